"""Containers of the program that grew since the last look, by bytes: what is no tensor is seen only there. Sealed child only."""

from __future__ import annotations

import sys
from typing import Any

from firstcause.lab.holding import reached
from firstcause.lab.reaching import CONTAINERS

# Of a container so many items are weighed, the newest.
WEIGHED = 200
LEAST_BYTES = 1 << 18


class Piles:
    """The first look keeps lengths; each later one tells the container that has grown by most bytes since."""

    def __init__(self) -> None:
        self._lengths: dict[int, tuple[type, int]] | None = None

    def grown(self) -> list[Any]:
        """The one container that grew most since the first look, in a list; empty where none did."""
        now: dict[int, tuple[type, int]] = {}
        best: tuple[float, Any] | None = None
        for held in reached():
            kind = type(held)
            if not issubclass(kind, (*CONTAINERS, dict)) or issubclass(kind, (tuple, frozenset)):
                continue
            count = len(held)
            now[id(held)] = (kind, count)
            before = (self._lengths or {}).get(id(held))
            if before is None or before[0] is not kind or count <= before[1]:
                continue
            grown = (count - before[1]) * _item_bytes(held)
            if grown >= LEAST_BYTES and (best is None or grown > best[0]):
                best = (grown, held)
        if self._lengths is None:
            self._lengths = now
        return [] if best is None else [best[1]]


def _item_bytes(held: Any) -> float:
    some = list(held.values() if isinstance(held, dict) else held)[-WEIGHED:]
    return sum(map(_bytes, some)) / max(1, len(some))


def _bytes(item: Any, depth: int = 2) -> int:
    size = sys.getsizeof(item, 64)
    if depth and issubclass(type(item), (*CONTAINERS, dict)):
        inner = list(item.values() if isinstance(item, dict) else item)[:WEIGHED]
        size += sum(_bytes(v, depth - 1) for v in inner)
    base = getattr(item, "base", None) if type(item).__module__ == "numpy" else None
    return size + (int(item.nbytes) if base is not None else 0)
