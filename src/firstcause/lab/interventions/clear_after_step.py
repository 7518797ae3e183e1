"""Gradients that a step has used are cleared before the next backward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.interventions import Intervention, with_gradient


@dataclass
class Course:
    """The steps of one optimizer, how many of them had left a gradient to the next backward, and where it steps."""

    steps: int = 0
    cleared: int = 0
    step: dict[str, Any] | None = None


class Change(Intervention):
    """What the program clears itself is clear already; told is the optimizer that leaves most of its gradients."""

    def start(self) -> None:
        self.due: list[torch.optim.Optimizer] = []
        self.courses: dict[int, Course] = {}

    def loss(self, value: torch.Tensor) -> None:
        for optimizer in self.due:
            held = [p for p in with_gradient(optimizer) if p.grad is not None and bool(p.grad.any())]
            self.courses[id(optimizer)].cleared += bool(held)
            for parameter in held:
                parameter.grad = None
        self.due = []

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        course = self.courses.setdefault(id(optimizer), Course())
        course.step = course.step or places.here()

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.due.append(optimizer)
        self.courses.setdefault(id(optimizer), Course()).steps += 1

    def facts(self) -> dict[str, Any]:
        found = max(self.courses.values(), key=lambda c: c.cleared / max(c.steps, 1), default=Course())
        return vars(found)
