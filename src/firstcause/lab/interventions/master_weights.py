"""Parameters in half precision are stepped as float32 copies, and rounded only for the forward pass."""

from __future__ import annotations

import torch

from firstcause.lab.interventions import Intervention

HALF = (torch.float16, torch.bfloat16)


class Change(Intervention):
    """What mixed-precision trainers call master weights; the optimizer's state becomes float32 with them."""

    def start(self) -> None:
        self.masters: dict[int, torch.Tensor] = {}

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.narrow: list[tuple[torch.Tensor, torch.dtype, torch.Tensor | None]] = []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.dtype in HALF:
                    gradient = parameter.grad
                    self.narrow.append((parameter, parameter.dtype, gradient))
                    parameter.grad = None
                    parameter.data = self.masters.setdefault(id(parameter), parameter.data.float())
                    parameter.grad = gradient.float() if gradient is not None else None

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        for parameter, dtype, gradient in self.narrow:
            parameter.grad = None
            self.masters[id(parameter)] = parameter.data
            parameter.data = parameter.data.to(dtype)
            parameter.grad = gradient
