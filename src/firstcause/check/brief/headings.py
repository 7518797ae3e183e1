"""Lists under a heading that rules them out: "Must not:", "Out of scope: mixup", "Non-goals"."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line, Reading

_NAMES = (
    r"must not(?: have| be used)?|must nots?|must-nots?|should not(?: have)?|won'?t have|do not want|don'?t want|do not(?: use)?|"
    r"don'?ts?|not wanted|unwanted|not allowed|forbidden|prohibited|banned|excluded|exclusions|out of scope|not in scope|"
    r"non-? ?goals|no-? ?gos|never|avoid|not needed|not required|not (?:this time|now|yet)|leave out"
)
_MARKS = r"[ \t]*(?:#{1,6}[ \t]+)?(?:[-*+•][ \t]+|\d{1,2}[.)][ \t]+)?(?:\*{1,2}|_{1,2})?"
_ENDS = r"[ \t]*:?[ \t]*(?:\*{1,2}|_{1,2})?[ \t]*:?[ \t]*$"
# A heading stands alone in its line; with a colon what it rules out may follow at once.
_HEADING = re.compile(rf"^{_MARKS}(?:{_NAMES})(?: \([^)\n]*\))?{_ENDS}", re.IGNORECASE)
_INLINE = re.compile(
    rf"^{_MARKS}(?:out of scope|not in scope|non-? ?goals|no-? ?gos|exclusions|excluded)(?:\*{{1,2}}|_{{1,2}})?:",
    re.IGNORECASE,
)
# A line that ends so, and a list behind it: "Please do not use:".
_OPENS = re.compile(
    r"\b(?:must not(?: \w+)?|(?:do not|don'?t|never|should not|shouldn'?t|may not)(?: (?:want|use|need|add|include|have))?|"
    r"avoid|forbidden|not wanted|unwanted|off the table|out of scope|leave out)[ \t]*:[ \t]*$",
    re.IGNORECASE,
)
_UNDONE = frozenset({"without", "skip", "omit", "forget"})
_EXPLAINS = frozenset({":", "(", "->", "→", "=>"})
_BULLET = re.compile(r"\s*(?:[-*+•]\s|\d{1,2}[.)]\s)")


def ruled_out(content: str) -> frozenset[int]:
    """The numbers of the lines, from 0, that stand under such a heading or beside it."""
    rows: set[int] = set()
    under = False
    for row, text in enumerate(content.split("\n")):
        if _HEADING.match(text) or _OPENS.search(text):
            under = True
        elif _INLINE.match(text):
            rows.add(row)
            under = False
        elif under and text.strip():
            bullet = bool(_BULLET.match(text))
            under = bullet or text.startswith(("  ", "\t"))
            if bullet:
                rows.add(row)
    return frozenset(rows)


def opens_with_it(sentence: str) -> bool:
    """Whether a sentence says so at its beginning, wherever it stands."""
    return bool(_INLINE.match(sentence))


def rule_out(line: Line) -> None:
    """Let what an entry names there be unwanted; what is denied in words stays so, and so does what follows it.

    "Several GPUs; one card is enough" asks for one, and a number there ("more than 4 epochs") is no wish.
    """
    tokens = line.tokens
    # What the heading itself ends with explains nothing.
    start = (
        next((n + 1 for n, t in enumerate(tokens) if t.text == ":"), 0)
        if opens_with_it(line.sentence.text)
        else 0
    )
    if any(_UNDONE & set(t.text.split()) for t in tokens[start:]):
        # "Do not: train without early stopping": what is not wanted is that something is missing.
        for reading in line.readings:
            reading.told = True
        return
    for reading in line.readings:
        if reading.polarity != "require" or reading.measured or tokens[reading.first].statement > 0:
            continue
        if _is_instead(line, reading):
            # "SGD, Adam instead".
            continue
        explains = any(t.text in _EXPLAINS for t in tokens[start : reading.first])
        if explains or (isinstance(reading.value, (int, float)) and not isinstance(reading.value, bool)):
            reading.told = True
            continue
        reading.polarity, reading.strength, reading.relation = "forbid", "must", "eq"
        reading.value = "none" if reading.value is True else reading.value


def _is_instead(line: Line, reading: Reading) -> bool:
    """Whether a value stands right before "instead", behind what it replaces."""
    behind = line.tokens[reading.last + 1 :]
    end = next((n for n, t in enumerate(behind) if t.kind == "break"), len(behind))
    return reading.first > 0 and any(t.text == "instead" for t in behind[:end])
