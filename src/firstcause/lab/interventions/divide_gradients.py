"""Gradients divided by the number of backward calls that they were summed over."""

from __future__ import annotations

import torch

from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """The mean over micro-batches in place of their sum."""

    def __init__(self, settings: object, recorder: object) -> None:
        super().__init__(settings, recorder)  # type: ignore[arg-type]
        self.calls = 0

    def loss(self, value: torch.Tensor) -> None:
        self.calls += 1

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        if self.calls > 1:
            with torch.no_grad():
                for group in optimizer.param_groups:
                    for parameter in group["params"]:
                        if parameter.grad is not None:
                            parameter.grad.div_(self.calls)
        self.calls = 0
