"""The norms of many parameters over many steps as a picture of few rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from firstcause.view.numbers import numbers

ROWS, CELLS = 48, 256


def heat(names: Sequence[str], steps: Sequence[int], high: Any, bad: Any) -> dict[str, Any]:
    """Groups of parameters by module, and for each the largest norm in every interval of steps.

    ``high`` and ``bad`` are by bucket and parameter. Parameters of one module are joined where there are more than
    ``ROWS``: a group's norm is the root of the sum of squares, which bounds it from above within an interval.
    ``bad`` lists the cells, by row, in which a norm was not finite.
    """
    groups = grouped(names)
    stride = -(-len(steps) // CELLS) if steps else 1
    starts = list(range(0, len(steps), stride))
    rows = []
    for label, members in groups:
        squares = np.nansum(np.square(high[:, members].astype(np.float64)), axis=1)
        wrong = bad[:, members].any(axis=1)
        cells = np.sqrt(np.maximum.reduceat(squares, starts)) if starts else squares
        marks = np.logical_or.reduceat(wrong, starts) if starts else wrong
        rows.append(
            {
                "name": label,
                "parameters": len(members),
                "values": numbers(cells),
                "bad": np.flatnonzero(marks).tolist(),
            }
        )
    return {"steps": [steps[at] for at in starts], "rows": rows}


def grouped(names: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The numbers of the names by their common beginning: as deep as leaves at most ``ROWS`` groups.

    Where that would join nearly all (a hundred layers of one stack), the next depth is taken, its neighbours joined.
    """
    before: list[tuple[str, list[int]]] = []
    for depth in range(max((name.count(".") for name in names), default=0) + 1, 0, -1):
        found: dict[str, list[int]] = {}
        for at, name in enumerate(names):
            found.setdefault(".".join(name.split(".")[:depth]), []).append(at)
        groups = list(found.items())
        if len(groups) <= ROWS:
            return groups if not before or 4 * len(groups) >= ROWS else _joined(before)
        before = groups
    return _joined(before)


def _joined(groups: list[tuple[str, list[int]]]) -> list[tuple[str, list[int]]]:
    size = -(-len(groups) // ROWS)
    blocks = [groups[at : at + size] for at in range(0, len(groups), size)]
    return [
        (
            block[0][0] if len(block) == 1 else f"{block[0][0]} … {block[-1][0]}",
            [n for _, one in block for n in one],
        )
        for block in blocks
    ]
