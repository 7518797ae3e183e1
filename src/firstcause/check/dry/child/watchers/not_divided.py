"""Gradients of several batches are added up as if they were one, and the loss is not divided by their number.

Seen: step() comes once in every n passes of the loop that backward() stands in, n the same each time, from a loss with
``reduction="mean"`` that goes to backward as it is.
Refuted by: anything computed from the loss, a sum, gradients that are changed before the step.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child.losses import LOSSES
from firstcause.check.dry.child.session import NOWHERE, Place
from firstcause.check.dry.child.watcher import Watcher
from firstcause.check.dry.child.watchers.gradients_not_cleared import memory

DIVIDING = ("div", "__truediv__", "true_divide", "div_", "__itruediv__")


class NotDivided(Watcher):
    SLUG = "accumulation-not-divided"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # Where backward was, in which loop, whether from a loss as it is, and whether from one that was divided.
        self.since: list[tuple[Place, Any, bool, bool]] = []
        self.before = 0
        self.place = NOWHERE
        self.changed_grads = False

    def operated(self, name: str, inputs: tuple[Any, ...], output: Any) -> None:
        if name in LOSSES and isinstance(output, torch.Tensor) and output.dim() == 0:
            output.fc_loss = True
        elif name in DIVIDING and isinstance(output, torch.Tensor) and output.dim() == 0:
            output.fc_divided = True

    def loss(self, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.summed = options.get("reduction") in ("sum", "none")

    summed = False

    def changed(self, tensors: list[Any], name: str) -> None:
        if self.since and not self.changed_grads:
            grads = {memory(p.grad) for p in _parameters() if p.grad is not None}
            self.changed_grads = any(memory(t) in grads for t in tensors) and "zero" not in name

    def backward(self, root: Any) -> None:
        plain = getattr(root, "fc_loss", False) and not self.summed
        self.since.append(
            (self.session.place(), self.session.loop(), plain, getattr(root, "fc_divided", False))
        )

    def step(self, optimizer: Any) -> None:
        since, self.since = self.since, []
        changed, self.changed_grads = self.changed_grads, False
        loop = self.session.loop()
        same = len({p for p, *_ in since}) == 1 and all(x is loop and plain for _, x, plain, _ in since)
        if (len(since) == 1 or all(divided for _, _, _, divided in since)) and not changed:
            self.session.fine(self.SLUG, *{place for place, *_ in since})
        if len(since) < 2 or loop is None or not same or changed:
            self.before = 0
            return
        if self.before == len(since):
            text = (
                f"{len(since)} batches are added up before each step and the loss is not divided by {len(since)}: the update is "
                "as many times too large, as if the learning rate were"
            )
            self.session.find(self.SLUG, "critical", text, since[-1][0], (self.session.place(),))
        self.before = len(since)


def _parameters() -> list[Any]:
    from firstcause.check.dry.child.modules import everywhere
    from firstcause.check.dry.child.optimizers import held

    return [p for o in everywhere() for p in held(o)]
