"""Rows of a batch that lie far outside of all its others, told by medians, which a few rows cannot move."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

LEAST_ROWS, MOST_ELEMENTS = 8, 4_000_000
# At most this share of a batch is "a few rows".
SHARE = 0.125
# Robust deviations from the column's median, and how far the others have to stay behind: a heavy tail has no gap.
FAR, GAP = 30.0, 8.0
LARGER = 2.0
SHOWN = 8


@dataclass(frozen=True)
class Outliers:
    """The rows, farthest first, with how far they lie, and the largest distance among the other rows."""

    rows: list[int]
    scores: list[float]
    rest: float
    columns: list[int]
    values: list[float]
    medians: list[float]

    def facts(self) -> dict[str, Any]:
        shown = slice(0, SHOWN)
        return {
            "rows": self.rows[shown],
            "count": len(self.rows),
            "scores": self.scores[shown],
            "rest": self.rest,
            "columns": self.columns[shown],
            "values": self.values[shown],
            "medians": self.medians[shown],
        }


def find(batch: torch.Tensor) -> Outliers | None:
    """The rows (first axis) that lie far outside, or None where there is no such gap between them and the others.

    A column is one position of a row. Its unit is the median distance to its median; where that is 0, as in
    columns that are nearly constant, it is the spread of all other rows, so that a rare 1 among zeros is no outlier.
    """
    if batch.dim() == 0 or len(batch) < LEAST_ROWS or batch.numel() > MOST_ELEMENTS or batch.is_complex():
        return None
    table = batch.detach().reshape(len(batch), -1).double()
    if not table.shape[1] or not bool(torch.isfinite(table).all()):
        return None
    median = table.median(0).values
    away = (table - median).abs()
    unit = away.median(0).values * 1.4826
    most = max(1, int(len(batch) * SHARE))
    # Without the farthest few of each column: how far its other rows reach.
    reach = away.kthvalue(len(batch) - most, 0).values
    unit = torch.where(unit > 0, unit, torch.where(reach > 0, reach, median.abs().clamp_min(1.0)))
    distances = away / unit
    scores, columns = distances.max(1)
    order = torch.argsort(scores, descending=True)
    ranked = scores[order]
    gaps = ranked[:most] / ranked[1 : most + 1].clamp_min(1.0)
    at = int(gaps.argmax())
    if float(gaps[at]) < GAP or float(ranked[at]) < FAR:
        return None
    rows = order[: at + 1]
    column = columns[rows]
    others = table[order[at + 1 :]][:, column].abs().max(0).values
    # Far outside and small, as the one 0 among counts, overflows nothing.
    if not bool((table[rows, column].abs() > LARGER * others).all()):
        return None
    return Outliers(
        rows.tolist(),
        ranked[: at + 1].tolist(),
        float(ranked[at + 1]),
        column.tolist(),
        table[rows, column].tolist(),
        median[column].tolist(),
    )


class Screen:
    """Looks once at each tensor of values that meets weights: what enters the graph without being of it."""

    def __init__(self) -> None:
        self._looked: dict[int, weakref.ref[torch.Tensor]] = {}

    def look(self, args: Any, kwargs: Any) -> Iterator[tuple[torch.Tensor, Outliers]]:
        """The data among an op's arguments in which some rows lie far outside."""
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        is_forward = torch.is_grad_enabled() and torch._C._current_autograd_node() is None
        if not is_forward or not any(x.requires_grad for x in given):
            return
        for tensor in given:
            looked = self._looked.get(id(tensor))
            is_known = looked is not None and looked() is tensor
            if tensor.requires_grad or not tensor.is_floating_point() or is_known:
                continue
            self._looked[id(tensor)] = weakref.ref(tensor)
            found = find(tensor) if tensor.layout is torch.strided and tensor.device.type != "meta" else None
            if found is not None:
                yield tensor, found
