"""A part of the model that is in the optimizer and never gets a gradient, because it is called under ``no_grad``.

Seen: within a forward with gradients, a trainable part is called without them, in training mode, at every step.
Refuted by: one gradient, weights that were loaded, weights that the program itself changes (an average of others).
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.session import Place
from firstcause.check.dry.child.watcher import Watcher
from firstcause.check.dry.child.watchers.gradients_not_cleared import memory

AT_LEAST = 4


class NoGradient(Watcher):
    SLUG = "detached-encoder"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.cut: dict[int, tuple[Any, Place]] = {}
        # In the present call from outside.
        self.within: list[tuple[Any, Place]] = []
        self.reached: set[int] = set()
        self.touched: set[int] = set()
        self.steps = 0

    def inner(self, module: Any, output: Any) -> None:
        if (
            not torch.is_grad_enabled()
            and module.training
            and any(p.requires_grad for p in module.parameters())
        ):
            self.within.append((module, self.session.place()))

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        # In a call that was without gradients as a whole, what is within it says nothing.
        if torch.is_grad_enabled():
            for inner, place in self.within:
                self.cut.setdefault(id(inner), (inner, place))
        self.within.clear()

    def changed(self, tensors: list[Any], name: str) -> None:
        self.touched |= {memory(t) for t in tensors}

    def step(self, optimizer: Any) -> None:
        self.steps += 1
        self.reached |= {id(p) for p in held(optimizer) if p.grad is not None}

    def ended(self) -> None:
        if self.steps < AT_LEAST:
            return
        known = {id(p) for o in everywhere() for p in held(o)}
        # The whole part, not the first layer in it.
        for module, place in sorted(self.cut.values(), key=lambda c: -len(list(c[0].parameters()))):
            parameters = [p for p in module.parameters() if p.requires_grad]
            silent = all(id(p) in known and id(p) not in self.reached for p in parameters)
            if (
                silent
                and not getattr(module, "fc_loaded", False)
                and not any(memory(p) in self.touched for p in parameters)
            ):
                text = (
                    f"{type(module).__name__} is called without gradients: its {len(parameters)} parameters are in the "
                    f"optimizer and got none in {self.steps} steps; they stay at their random start"
                )
                self.session.find(self.SLUG, "critical", text, place)
                return
