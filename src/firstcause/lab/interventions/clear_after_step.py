"""Gradients that a step has used are cleared before the next backward pass."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.interventions import Intervention, with_gradient


class Change(Intervention):
    """What the program clears itself is clear already; ``cleared`` counts the steps whose gradient it had left."""

    def start(self) -> None:
        self.due: list[torch.optim.Optimizer] = []
        self.cleared = self.steps = 0

    def loss(self, value: torch.Tensor) -> None:
        for optimizer in self.due:
            held = [p for p in with_gradient(optimizer) if p.grad is not None and bool(p.grad.any())]
            self.cleared += bool(held)
            for parameter in held:
                parameter.grad = None
        self.due = []

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.due.append(optimizer)
        self.steps += 1

    def facts(self) -> dict[str, Any]:
        return {"cleared": self.cleared, "steps": self.steps}
