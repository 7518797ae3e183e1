"""What a training in the kernel shows while a cell runs: losses, steps, and whether all gradients were finite."""

from __future__ import annotations

import math
from typing import Any

import torch

from firstcause.integrations.steps import Steps


class Watch(Steps):
    """Looks at each ``backward`` and each optimizer's step inside this context."""

    def __init__(self) -> None:
        self.steps = 0
        self.losses: list[float] = []
        self.bad = ""

    def told(self) -> str:
        """One line: the steps, the first and the last loss."""
        if not self.losses and not self.steps:
            return "no step of a training was seen"
        loss = f", loss {self.losses[0]:.4g} to {self.losses[-1]:.4g}" if self.losses else ""
        return f"{self.steps} steps{loss}, {self.bad or 'every loss and gradient finite'}"

    def before_backward(self, tensor: torch.Tensor) -> None:
        if torch.compiler.is_compiling() or tensor.numel() != 1:
            return
        loss = float(tensor.detach())
        self.losses.append(loss)
        if not math.isfinite(loss):
            self.bad = self.bad or f"a loss of {loss} at step {self.steps}"

    def before_step(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        if torch.compiler.is_compiling():
            return
        gradients = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        if not self.bad and not all(bool(torch.isfinite(g).all()) for g in gradients):
            self.bad = f"a gradient that is not finite at step {self.steps}"
        self.steps += 1
