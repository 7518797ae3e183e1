"""Gradients that are thrown away between backward and step are there again when the optimizer steps."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.interventions import Intervention
from firstcause.lab.optimizers import Optimizers, after_backward, has_gradient, is_live, parameters


class Change(Intervention):
    """``restored`` counts the steps; a step that has a gradient of its own is left as it is."""

    def start(self) -> None:
        self.optimizers = Optimizers()
        self.kept: dict[int, torch.Tensor] = {}
        self.restored = 0
        after_backward(self._after_backward)

    def _after_backward(self) -> None:
        for optimizer in self.optimizers.all:
            for p in parameters(optimizer):
                if p.grad is not None and is_live(p.grad):
                    self.kept[id(p)] = p.grad.clone()

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if has_gradient(optimizer):
            return
        found = [p for p in parameters(optimizer) if id(p) in self.kept]
        self.restored += bool(found)
        for p in found:
            p.grad = self.kept[id(p)]

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        for p in parameters(optimizer):
            if self.kept.pop(id(p), None) is not None:
                # The program cleared it before the step, and does not do so after it.
                p.grad = None

    def facts(self) -> dict[str, Any]:
        return {"restored": self.restored}
