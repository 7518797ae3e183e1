"""Epochs by how often the data is seen: "every example four times", "go through the corpus twice"."""

from __future__ import annotations

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_SEES = word_set("visits", "sees")
_SEEN = word_set("visits", "seen")
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_FOR_OTHERS = ("epoch", "step", "update", "hour", "day", "minute", "second", "week")


def visits(line: Line) -> None:
    """Claim how many times the data is gone through."""
    words = words_in(line.tokens)
    if not any(w in _SEES for w in words) or not any(w in _SEEN for w in words):
        return
    if any(r.key == "epochs" for r in line.readings):
        return
    for at, token in enumerate(line.tokens):
        after = line.words(at + 1, at + 4)
        if token.claimed or any(w.startswith(_FOR_OTHERS) for w in after):
            continue
        if token.text in _TIMES and not (after[:1] and after[0] in ("more", "per", "a")):
            line.claim(Reading("epochs", _TIMES[token.text], at, at))
            return
        if token.kind == "number" and not token.unit and after[:1] == ["times"]:
            line.claim(Reading("epochs", whole(token.value), at, at + 1))
            return
