"""Places of a program at which inputs and targets may part: what puts one of two into another order, and what would keep it.

Only a suspicion: that two names belong together, and how, is the program's own knowledge. Each place comes with the ways
to write it otherwise; whether one of them makes a training better is for an experiment to say.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from firstcause.source.module import Module
from firstcause.source.pairing import (
    augmented,
    indices,
    keyed,
    listings,
    loaders,
    noises,
    orders,
    repeats,
    splits,
    unsorted,
    written,
)
from firstcause.source.pairing.parting import Parting
from firstcause.source.rewrites import Rewrite

__all__ = ["Parting", "Rewrite", "partings"]

FINDERS = (
    indices.find,
    orders.find,
    keyed.find,
    unsorted.find,
    repeats.find,
    splits.find,
    loaders.find,
    listings.find,
    written.find,
    augmented.find,
)


def partings(module: Module, others: Sequence[Module] = ()) -> list[Parting]:
    """All of a file, each statement once; it may call what stands in the other files of its program."""
    found: dict[ast.stmt, Parting] = {}
    for one in chain(*(find(module) for find in FINDERS), noises.find(module, others)):
        if one.ways:
            known = found.get(one.statement)
            found[one.statement] = one if known is None else _joined(known, one)
    return list(found.values())


def _joined(known: Parting, other: Parting) -> Parting:
    """One statement with the ways of both, each once."""
    texts = [[r.text for r in way] for way in known.ways]
    more = tuple(way for way in other.ways if [r.text for r in way] not in texts)
    return replace(known, ways=known.ways + more)
