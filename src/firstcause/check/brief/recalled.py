"""Numbers that replace what was told a moment ago: "So far we had 16k. Please give it 32k", "she has 50 epochs; we do 8"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_PREFERS = word_set("recalled", "prefers")
_OTHERS = word_set("told", "others")
_WE = frozenset({"we", "i", "ours", "mine", "us"})
_OURS = word_set("recalled", "ours")
_REACH = 3


def recalls(line: Line, at: int) -> bool:
    """Whether a bare number is what is preferred now: "I prefer 4e-5", "please give it 32k"."""
    if not _is_bare(line, at):
        return False
    before = " ".join(words_in(line.tokens[max(0, at - _REACH) : at]))
    return any(before == phrase or before.endswith(f" {phrase}") for phrase in _PREFERS)


def is_ours(line: Line, at: int) -> bool:
    """Whether it is set against what somebody else does in the same sentence: "she trains for 50 epochs; we do 8"."""
    if not _is_bare(line, at):
        return False
    verb = line.words(at - 2, at)
    ours = bool(verb) and (
        (verb[0] in _WE and verb[-1] in _OURS)
        or (verb[0] in ("ours", "mine") and verb[-1] in ("is", "=", ":"))
    )
    segment = line.tokens[at].segment
    told = [t for t in line.tokens[:at] if t.segment < segment]
    return ours and bool(_OTHERS & set(words_in(told)))


def _is_bare(line: Line, at: int) -> bool:
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    return after is None or after.kind == "break" or after.text in ("instead", "now", "please", "then")
