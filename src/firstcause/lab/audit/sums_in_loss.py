"""Losses that are summed over a batch and go undivided into the gradient; with ``settings["meaned"]`` they are divided."""

from __future__ import annotations

import sys
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.loss_functions import LOSSES

SUMMED = LOSSES | {"poisson_nll_loss"}
LEAST = 4
WHOLE = 0.5


class Watch(Watcher):
    """The column ``each`` is the summed loss divided by what it is summed over."""

    CALLS = SUMMED | {"sum"}

    def start(self) -> None:
        self.meaned = frozenset((f, n) for f, n in self.settings.get("meaned") or ())
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.each: list[float] = []
        self.backwards = 0

    def called(self, call: Call) -> None:
        result = call.result
        if not isinstance(result, torch.Tensor) or result.dim() or not result.requires_grad:
            return
        if call.name == "sum":
            # Over everything, and of more than a few values: x.sum(0) is a reduction inside of a model.
            subject = call.args[0] if call.args else None
            if (
                len(call.args) > 1
                or call.kwargs
                or not isinstance(subject, torch.Tensor)
                or subject.dim() == 0
            ):
                return
            count, batch = subject.numel(), subject.shape[0]
        elif call.kwargs.get("reduction") == "sum" and len(call.args) > 1:
            target = call.args[1]
            count, batch = target.numel(), call.args[0].shape[0]
        else:
            return
        if count >= LEAST:
            self._watch(call.name, result, count, batch)

    def _watch(self, name: str, result: torch.Tensor, count: int, batch: int) -> None:
        site = places.of_frame(sys._getframe(2), columns=True)
        if site is None:
            return
        key = (site["file"], site["line"])
        value = float(result.detach()) / count
        found = self.seen.setdefault(
            key,
            {
                "site": site,
                "loss": name,
                "count": count,
                "batch": batch,
                "used": 0,
                "whole": 0,
                "whole_loss": 0,
            },
        )
        result._firstcause_sum = key

        def arrived(gradient: torch.Tensor) -> torch.Tensor | None:
            found["used"] += 1
            if float(gradient) >= WHOLE:
                found["whole"] += 1
                self.each.append(value)
            return gradient / count if key in self.meaned else None

        result.register_hook(arrived)

    def loss(self, value: torch.Tensor) -> None:
        self.backwards += 1
        found = self.seen.get(getattr(value, "_firstcause_sum", ("", 0)))
        if found is not None:
            found["whole_loss"] += 1

    def figures(self) -> dict[str, Any]:
        taken, self.each = self.each, []
        return {"each": sum(taken) / len(taken)} if taken else {}

    def facts(self) -> dict[str, Any]:
        return {"summed": list(self.seen.values()), "backwards": self.backwards}
