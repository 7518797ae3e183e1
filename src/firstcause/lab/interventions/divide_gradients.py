"""Gradients divided by the number of backward calls that they were summed over."""

from __future__ import annotations

import torch

from firstcause.lab.interventions import Intervention, with_gradient


class Change(Intervention):
    """The mean over micro-batches in place of their sum."""

    # Since the last step.
    calls = 0

    def loss(self, value: torch.Tensor) -> None:
        self.calls += 1

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if self.calls > 1:
            with torch.no_grad():
                for parameter in with_gradient(optimizer):
                    parameter.grad.div_(self.calls)
        self.calls = 0
