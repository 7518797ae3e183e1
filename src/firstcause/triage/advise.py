"""What to do first and what to leave alone, as ids of the closed list: measure before any remedy."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.catalog.advice import Advice, load_advice
from firstcause.catalog.words import NONE, load_words
from firstcause.triage.signs import signs, weights
from firstcause.triage.words import Understood

# More than this many at once is a list of things to try.
MOST = 4


def advice(
    action: str, order: Sequence[str], understood: Understood
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids that are recommended, and those that are warned against, each in the order of the patterns."""
    known = load_advice()
    recommended = _called_for(known.recommended, action, order) if action in ("route", "need-error") else []
    everything = [*understood.told.observed, *understood.told.claimed]
    asked = [
        name
        for name in weights(signs(load_words().features.get("asked", NONE), everything, denials=False))
        if name in known.warned
    ]
    warned = (
        [*asked, *_called_for(known.warned, action, order)]
        if action != "out-of-scope"
        else ["answer-out-of-scope"]
    )
    if "memory-fragmentation" in order:
        # The figures show it, so naming it is no mistake.
        warned = [name for name in warned if name != "blame-fragmentation-unshown"]
    return tuple(recommended[:MOST]), tuple(dict.fromkeys(warned))


def _called_for(entries: dict[str, Advice], action: str, order: Sequence[str]) -> list[str]:
    found: list[str] = []
    for pattern in order if action == "route" else ():
        found += [name for name, entry in entries.items() if pattern in entry.patterns]
    if len(order) > 1 and action == "route":
        found += [name for name, entry in entries.items() if entry.several]
    found += [name for name, entry in entries.items() if action in entry.actions]
    return list(dict.fromkeys(found))
