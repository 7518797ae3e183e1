"""A share by counting off: "every tenth image is validation", "each 5th row goes to the dev set"."""

from __future__ import annotations

import re

from firstcause.check.brief.counts import unit_of
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in

_ORDINALS = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12,
    "fifteenth": 15, "twentieth": 20, "fiftieth": 50, "hundredth": 100,
}  # fmt: skip
_DIGITS = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")
_BECOMES = frozenset(
    {
        "is",
        "are",
        "be",
        "goes",
        "go",
        "becomes",
        "forms",
        "belongs",
        "lands",
        "into",
        "to",
        "for",
        "as",
        "in",
        "aside",
    }
)
_HELD_OUT = frozenset(
    {"validation", "val", "dev", "test", "eval", "evaluation", "held", "holdout", "aside", "validate"}
)
_TRAINED = frozenset({"train", "training"})
_REACH = 10


def counted_off(line: Line) -> None:
    """Claim the tenth in "every tenth image in sorted order is validation"."""
    tokens = line.tokens
    for at in range(len(tokens) - 3):
        nth = _nth(line, at + 1)
        if not tokens[at].has("every") or nth < 2 or tokens[at].claimed or unit_of(tokens[at + 2]):
            continue
        own = [t for t in tokens[at + 2 : at + 2 + _REACH] if t.segment == tokens[at].segment]
        words = words_in(own)
        held = next((n for n, w in enumerate(words) if w in _HELD_OUT), -1)
        if held > 0 and _BECOMES & set(words[1 : held + 1]) and not _TRAINED & set(words[:held]):
            line.claim(Reading("data_split", round(1 / nth, 6), at, at + 1))
            return


def _nth(line: Line, at: int) -> int:
    token = line.tokens[at]
    if token.text in _ORDINALS:
        return _ORDINALS[token.text]
    digits = _DIGITS.fullmatch(token.text)
    if digits is not None:
        return int(digits[1])
    after = line.words(at + 1, at + 2)
    return int(token.value) if token.kind == "number" and after in (["th"], ["rd"], ["nd"]) else 0
