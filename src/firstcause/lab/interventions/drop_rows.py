"""Rows of a batch that lie far outside of the others replaced by a row of the same batch; or as many other rows.

Replaced and not left out, so that every shape stays. ``settings["which"]`` is ``outliers`` or ``others``.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from firstcause.lab import outliers, places
from firstcause.lab.interventions import Intervention
from firstcause.lab.names import row_holder

SHOWN = 8


class Change(Intervention):
    """Looks at every tensor of data just before the first op that computes with it and the weights."""

    def start(self) -> None:
        self.first: list[dict[str, Any]] = []
        self.count = 0
        self.mode = _Replacing(self)
        self.mode.__enter__()

    def replace(self, batch: torch.Tensor, found: outliers.Outliers) -> None:
        far = set(found.rows)
        near = [r for r in range(len(batch)) if r not in far]
        rows = found.rows if self.settings["which"] == "outliers" else near[1 : 1 + len(far)]
        self.count += len(rows)
        if len(self.first) < SHOWN:
            frame = sys._getframe(1)
            where = {"name": row_holder(batch, found.rows[0], frame), "site": places.of_frame(frame)}
            self.first.append(found.facts() | where | {"shape": list(batch.shape), "replaced": rows[:SHOWN]})
        # Through .data, so that autograd's count of writes does not see it: the graph is yet to be built on this tensor.
        batch.data[rows] = batch.data[near[0]].clone()

    def facts(self) -> dict[str, Any]:
        return {"replaced": self.count, "first": self.first}


class _Replacing(TorchDispatchMode):
    def __init__(self, change: Change) -> None:
        super().__init__()
        self.change = change
        self.screen = outliers.Screen()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for batch, found in self.screen.look(args, kwargs or {}):
            if 0 not in batch.stride():
                self.change.replace(batch, found)
        return func(*args, **(kwargs or {}))
