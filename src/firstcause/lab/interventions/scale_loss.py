"""The loss multiplied by ``scale`` in the backward pass, the gradients divided by it before the step."""

from __future__ import annotations

import torch

from firstcause.lab.interventions import Intervention, with_gradient


class Change(Intervention):
    """What a GradScaler does, with a constant scale; a step whose gradients overflow is left out, as there."""

    def loss(self, value: torch.Tensor) -> None:
        if value.requires_grad:
            value.register_hook(lambda gradient: gradient * self.settings["scale"])

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        with torch.no_grad():
            for parameter in with_gradient(optimizer):
                parameter.grad.div_(self.settings["scale"])
