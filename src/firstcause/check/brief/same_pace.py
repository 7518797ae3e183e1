"""Paces that are told by another one: "checkpoint at the same rhythm", "save after each of them", "save every 100"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.counts import unit_of
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_SAME = frozenset({"same", "identical"})
_PACES = word_set("same_pace", "paces")
_THEM = frozenset({"them", "these", "those", "one"})
_OTHER = {"eval": "save", "save": "eval"}
_STEPS = frozenset({"max_steps", "warmup_steps", "eval_steps", "save_steps"})
_ENDS = frozenset({"to", "in", "into", "under", "and", "with"})
_SAVED = word_set("same_pace", "saved")
_MANY = 50
_REACH = 8


def same_paces(line: Line, heard: Sequence[Reading]) -> None:
    """Claim the pace of what is saved, or evaluated, where words point to a pace that was said."""
    for at, token in enumerate(line.tokens):
        if token.claimed:
            continue
        if token.text in _SAME and _PACES & set(words_in(line.tokens[at + 1 : at + 2])):
            _copy(line, heard, at)
        elif token.has("every"):
            _each_of_them(line, heard, at)
            if not token.claimed:
                _bare(line, heard, at)


def _doers(line: Line, at: int, first: int = 0) -> list[str]:
    """What happens then: saving, evaluating or both, by the words of the clause before a place."""
    statement = {line.tokens[at].statement}
    found: list[str] = []
    for token in reversed(line.tokens[max(first, at - _REACH) : at]):
        if token.kind == "break" and token.text not in ("(", ")") and found:
            break
        if token.statement not in statement and not found and token.kind == "break":
            break
        found += [kind for kind in ("save", "eval") if token.has(kind) and kind not in found]
        # "Evaluate and save": two wishes are joined.
        statement |= {token.statement} if token.text != ";" else set()
    return found


def _copy(line: Line, heard: Sequence[Reading], at: int) -> None:
    doers = _doers(line, at)
    for doer in doers[:1]:
        said = [r for r in (*heard, *line.readings) if r.key.startswith(f"{_OTHER[doer]}_st") and not r.told]
        pace = next((r for r in reversed(said) if r.key.endswith("_strategy")), None)
        steps = next((r for r in reversed(said) if r.key.endswith("_steps")), None)
        if pace is None or any(r.key == f"{doer}_strategy" for r in line.readings):
            continue
        line.claim(Reading(f"{doer}_strategy", pace.value, at, at + 1, condition=pace.condition))
        if pace.value == "steps" and steps is not None:
            line.claim(Reading(f"{doer}_steps", steps.value, at, at + 1))


def _each_of_them(line: Line, heard: Sequence[Reading], at: int) -> None:
    """Claim "after each of them" where epochs were counted just before."""
    after = line.words(at + 1, at + 3)
    counted = [r for r in (*heard, *line.readings) if r.key in ("epochs", "max_steps") and not r.told]
    if after[:1] != ["of"] or not _THEM & set(after[1:]) or not counted or counted[-1].key != "epochs":
        return
    for doer in _doers(line, at):
        line.claim(Reading(f"{doer}_strategy", "epoch", at, at + 2))


def _bare(line: Line, heard: Sequence[Reading], at: int) -> None:
    """Claim "save every 100, to out/" in a training that counts steps."""
    tokens = line.tokens
    number = tokens[at + 1] if at + 1 < len(tokens) else None
    after = tokens[at + 2] if at + 2 < len(tokens) else None
    if number is None or number.kind != "number" or number.claimed or number.unit not in ("", "k"):
        return
    value = number.value * (1000 if number.unit == "k" else 1)
    counts = [r.key for r in heard if r.key in _STEPS | {"epochs"} and r.polarity == "require"]
    ends = after is None or after.kind == "break" or after.text in _ENDS
    if not ends or value < _MANY or value != int(value) or not _STEPS & set(counts):
        return
    beside = [t for t in tokens if t.segment == tokens[at].segment]
    doers = [kind for kind in ("save", "eval") if any(t.has(kind) for t in beside)]
    if len(doers) == 1 and not any(unit_of(t) for t in beside) and not _of_other_things(line, at, doers[0]):
        line.claim(Reading(f"{doers[0]}_strategy", "steps", at, at + 1))
        line.claim(Reading(f"{doers[0]}_steps", whole(value), at, at + 1))


def _of_other_things(line: Line, at: int, doer: str) -> bool:
    """Whether what is saved is no checkpoint: "save a picture every 500"."""
    verb = next((n for n in range(at - 1, -1, -1) if line.tokens[n].has(doer)), at)
    return doer == "save" and any(w not in _SAVED for w in words_in(line.tokens[verb + 1 : at]))
