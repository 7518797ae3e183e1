"""Columns that must be no input: "`days_to_event` is only known afterwards and must never be a feature"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstcause.check.brief.reading import Line, Reading

_NOUNS = r"(?:input|feature|predictor|covariate|regressor)s?\b"
_DENIED = re.compile(
    rf"\b(?:not|never|neither|n't) (?:ever )?(?:be|become|serve as|enter as|go in as|be used as|be taken as|be part of|"
    rf"be one of|be among)? ?(?:an? |the |one of the |model )?{_NOUNS}"
    rf"|\b(?:do not|don't|never|not) (?:use|feed|take|give) (?P<own>[`'\"]\w+[`'\"]|it|them)? ?"
    rf"(?:as|among) (?:an? |the )?{_NOUNS}"
    rf"|\b(?:leave|keep|drop) (?P<out>[`'\"]\w+[`'\"]|it|them) (?:out of|from) the {_NOUNS}",
    re.IGNORECASE,
)
_NAME = re.compile(r"[`'\"]([A-Za-z_]\w{1,60})[`'\"]")
_PRONOUN = re.compile(r"\b(?:it|they|that column|this column|them)\b", re.IGNORECASE)
# What a sentence is about stands at its beginning.
_ABOUT = re.compile(
    r"^\W{0,6}(?:the )?(?:columns? )?`([A-Za-z_]\w{1,60})`\s+(?:is|are|was|tells|says|holds|comes)\b"
)
KEY = "input_column"


def no_inputs(line: Line, heard: Sequence[Reading]) -> None:
    """Claim the columns that a sentence keeps out of the inputs; remember the one that it is about."""
    text = line.sentence.text
    last = len(line.tokens) - 1
    denied = _DENIED.search(text)
    if denied is None or line.sentence.asks:
        if (about := _ABOUT.match(text)) is not None:
            line.readings.append(Reading(KEY, about[1], 0, 0, told=True, polarity="forbid", settled=True))
        return
    names = _denied_names(text, denied)
    if not names and _PRONOUN.search(text[: denied.end()]):
        said = next((r for r in reversed(heard[-3:]) if r.key == KEY), None)
        names = [str(said.value)] if said is not None else []
    for name in names:
        line.readings.append(Reading(KEY, name, last, last, polarity="forbid", settled=True, measured=True))


def _denied_names(text: str, denied: re.Match[str]) -> list[str]:
    """The columns of the denial itself, or of its own clause before it: "`a` and `b` must never be a feature"."""
    own = _NAME.findall(denied["own"] or denied["out"] or "")
    before = text[: denied.end()]
    clause = max(before.rfind(mark) for mark in (";", ". ", " but "))
    return own or _NAME.findall(before[clause + 1 :])
