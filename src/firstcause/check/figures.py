"""Which way a figure of quality goes, by its name: eval_wer is better when lower, val/acc when higher."""

from __future__ import annotations

import functools
import re
from typing import Literal

from firstcause.catalog.toml import check_table

Way = Literal["lower", "higher"]


def better(name: str) -> Way | None:
    """Whether the best of a figure is the lowest or the highest; None where its name does not surely say it."""
    words = _words(name)
    if not words or name.startswith("-") or words[0] == "1" or set(words) & _listed("turned"):
        return None
    if words[-1] in ("loss", "losses"):
        # A dice loss is a loss.
        return "lower"
    ways: set[Way] = set()
    for word in words:
        way = _way(word)
        if way is not None:
            ways.add(way)
        elif ways and word not in _listed("following") and not word.isdigit():
            # A threshold at the best F1 is no F1; what stands before a figure is where it was measured.
            return None
    return ways.pop() if len(ways) == 1 else None


def _words(name: str) -> list[str]:
    whole = re.sub(r"[\W_]+", "_", name.lower()).strip("_")
    split = re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()).strip("_")
    # What is one word in the table is not divided at its capitals: val_rougeLsum, but valLoss.
    text = whole if any(_way(w) for w in whole.split("_")) else split
    for several, one in check_table("figures")["joined"]:
        text = re.sub(rf"(?<![a-z0-9]){several}(?![a-z0-9])", one, text)
    return [w for w in text.split("_") if w]


def _way(word: str) -> Way | None:
    if word in _listed("lower"):
        return "lower"
    return "higher" if word in _listed("higher") else None


@functools.cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(check_table("figures")[name].split())
