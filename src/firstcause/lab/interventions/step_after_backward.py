"""Optimizers that never step take a step after each backward pass that gives their parameters a gradient."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.interventions import Intervention
from firstcause.lab.optimizers import Optimizers, after_backward, has_gradient, parameters


class Change(Intervention):
    """``losses`` are those handed to backward, in order, and ``own`` those that a step followed.

    An optimizer that the program steps itself is left alone.
    """

    def start(self) -> None:
        self.optimizers = Optimizers()
        self.own: set[int] = set()
        self.stepping = False
        self.losses: list[torch.Tensor] = []
        self.followed: list[torch.Tensor] = []
        after_backward(self._after_backward)

    def loss(self, value: torch.Tensor) -> None:
        self.losses.append(value.detach())

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if not self.stepping:
            self.own |= {id(p) for p in parameters(optimizer)}

    def _after_backward(self) -> None:
        stepped = False
        for optimizer in self.optimizers.all:
            if has_gradient(optimizer) and not any(id(p) in self.own for p in parameters(optimizer)):
                self.stepping = True
                optimizer.step()
                optimizer.zero_grad()
                self.stepping, stepped = False, True
        if stepped and self.losses:
            self.followed.append(self.losses[-1])

    def facts(self) -> dict[str, Any]:
        given, own = ([float(x.float().mean()) for x in losses] for losses in (self.losses, self.followed))
        return {"losses": given, "own": own}
