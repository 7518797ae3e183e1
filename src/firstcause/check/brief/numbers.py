"""How people write numbers: 2e-4, 2x10^-4, 1,000, 20k, 3 %, two, twenty-five, two times ten to the minus five, one thousandth."""

from __future__ import annotations

import re

_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS = {w: n for n, w in enumerate(_ONES)} | {w: 10 * n for n, w in enumerate(_TENS, 2)}
_WORDS |= {"single": 1, "couple": 2, "pair": 2, "dozen": 12}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_PARTS = {"half": 0.5, "quarter": 0.25, "third": 1 / 3, "fifth": 0.2, "tenth": 0.1}
# "1 pair per step" has one number, "a pair of GPUs" is two of them.
_ONE = "|".join(sorted(_WORDS, key=len, reverse=True)).replace("pair", r"(?<!\d )(?<!one )pair(?= of\b)")

# The value, then its unit; nothing that is a part of a name.
NUMBER = re.compile(
    r"(?<![\w.])(?:(?P<mantissa>\d+(?:\.\d+)?|\.\d+) ?[x*] ?10 ?(?:\^|\*\*)? ?[({]?(?P<exponent>[-+]?\d+)[)}]?"
    r"|10(?:\^|\*\*) ?[({]?(?P<power>[-+]?\d+)[)}]?"
    r"|2(?:\^|\*\*) ?(?P<of_two>\d{1,2})"
    r"|1 ?(?:over|/) ?(?P<inverse>[1-9]\d{2,6})(?!\d)|0,(?P<decimals>\d{2,8})(?![,\d])"
    r"|(?P<plain>(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:_\d{3})+"
    r"|\d{1,3}(?: \d{3}){0,4} 000|(?:(?<=[:=] )|(?<=\bof )|(?<=\bto ))\d{1,2} \d{3}(?= (?:tokens|steps|updates|samples)\b)"
    r"|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?))"
    r"(?P<unit> ?%| thousand\b| million\b| ?percent\b| per cent\b| ?(?:gb|gib)\b| gigs?\b|[gkmb]\b|mb\b| b\b(?= param))?"
    r"(?:(?P<of>x)(?=[ a-z])|(?![a-z\d]))"
)
WORD_NUMBER = re.compile(
    rf"(?<![\w.])(?:(?P<times>{_ONE})\s+times\s+ten\s+to\s+the\s+(?:power\s+of\s+)?(?P<minus>minus\s+)?(?P<to>{_ONE})"
    rf"|(?P<factor>{_ONE}) e minus (?P<shift>{_ONE})"
    rf"|(?:an?|(?P<many>{_ONE})) (?P<nth>(?:ten|hundred)[- ])?(?P<small>hundredth|thousandth|millionth)s?"
    rf"|one (?:in|over) (?:an? |one )?(?P<times_in>{_ONE})?[- ]?(?P<over>thousand|million)"
    r"|(?:(?:an? |one )?(?P<part>half|quarter|third|fifth|tenth)(?:(?: an?| of an?)(?= epoch)"
    r"|(?= of (?:all |the |its )?(?:training |total |optimizer )?(?:steps|updates|iterations|training)\b)))"
    rf"|(?<=\bof )an? (?P<share>half|quarter|third|fifth|tenth)(?= ?[.,;)\n]|$)"
    rf"|half an? (?P<half_of>hundred|thousand|million)|(?<=first )(?P<bare>hundred|thousand|million)"
    rf"|(?:a )?(?P<ones>{_ONE}|a(?= hundred| thousand| million))(?:[- ](?P<more>{'|'.join(_ONES[1:10])}))?"
    rf"(?: (?P<scale>hundred|thousand|million|percent))?(?P<and_half> and a half)?)(?![\w])"
)
UNITS = {
    "%": "%",
    "percent": "%",
    "per cent": "%",
    "gb": "gb",
    "gib": "gb",
    "g": "gb",
    "gig": "gb",
    "gigs": "gb",
    "k": "k",
    "thousand": "k",
    "m": "m",
    "million": "m",
    "mb": "mb",
    "b": "b",
    "x": "x",
}


def number(match: re.Match[str]) -> tuple[float, str]:
    """The value and the unit of a match of NUMBER: "3 %" is (3, "%"), "20k" (20, "k")."""
    unit = "x" if match["of"] else UNITS.get((match["unit"] or "").strip(), "")
    if match["mantissa"]:
        return float(f"{match['mantissa']}e{match['exponent']}"), unit
    if match["power"]:
        return float(f"1e{match['power']}"), unit
    if match["of_two"]:
        return float(2 ** int(match["of_two"])), unit
    if match["inverse"]:
        return 1 / float(match["inverse"]), unit
    if match["decimals"]:
        return float(f"0.{match['decimals']}"), unit
    return float(match["plain"].replace(",", "").replace("_", "").replace(" ", "")), unit


def word_number(match: re.Match[str]) -> tuple[float, str]:
    """The value and the unit of a match of WORD_NUMBER."""
    if match["times"]:
        sign = "-" if match["minus"] else ""
        return float(f"{_WORDS[match['times']]}e{sign}{_WORDS[match['to']]}"), ""
    if match["factor"]:
        return float(f"{_WORDS[match['factor']]}e-{_WORDS[match['shift']]}"), ""
    if match["share"]:
        return round(_PARTS[match["share"]], 12), ""
    if match["small"]:
        many = _WORDS.get(match["many"] or "one", 1)
        return many / (
            _SCALES[match["small"][:-2]] * {"t": 10, "h": 100}.get((match["nth"] or " ")[0], 1)
        ), ""
    if match["over"]:
        return 1 / (_SCALES[match["over"]] * _WORDS.get(match["times_in"] or "one", 1)), ""
    if match["part"]:
        return _PARTS[match["part"]], ""
    if match["half_of"]:
        return _SCALES[match["half_of"]] / 2, ""
    if match["bare"]:
        return float(_SCALES[match["bare"]]), ""
    first = _WORDS.get(match["ones"], 1)
    if match["more"] and first >= 20:
        first += _WORDS[match["more"]]
    if match["and_half"]:
        return first + 0.5, ""
    if match["scale"] == "percent":
        return float(first), "%"
    return float(first * _SCALES.get(match["scale"], 1)), ""


def whole(value: float) -> float | int:
    """The value as an int where it is one."""
    return int(value) if abs(value) < 1e15 and value == int(value) else value
