"""A loss of two shapes that broadcast to more elements than either has.

Seen: prediction and target of an element-wise loss, such as [N, 1] and [N]; or the difference of a layer's [N, 1] output and
an [N] without gradient.
Refuted by: a target that is spread over a prediction of the full size, dimensions that the program itself inserts.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child.losses import ELEMENTWISE
from firstcause.check.dry.child.tags import made_at, tag
from firstcause.check.dry.child.watcher import Watcher


class BroadcastInLoss(Watcher):
    SLUG = "broadcast-in-loss"

    def loss(self, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        # A matrix of each with each that is asked for as it is, or whose dimensions were inserted for it, is meant.
        meant = options.get("reduction") == "none" or all(getattr(t, "fc_spread", False) for t in inputs)
        if name in ELEMENTWISE and inputs[0].shape != inputs[1].shape and not meant:
            self._judge(name, *inputs)
        elif inputs[0].shape == inputs[1].shape:
            self.session.fine(self.SLUG, self.session.place())

    def operated(self, name: str, inputs: tuple[Any, ...], output: Any) -> None:
        if name not in ("sub", "__sub__", "__rsub__", "subtract") or len(inputs) < 2:
            return
        if not all(isinstance(t, torch.Tensor) for t in inputs[:2]):
            return
        wide, flat = sorted(inputs[:2], key=lambda t: -t.dim())
        pair = wide.dim() == 2 and flat.dim() == 1 and wide.shape == (flat.shape[0], 1)
        if pair and tag(wide) == "linear" and wide.requires_grad and not flat.requires_grad:
            self._judge("the difference", wide, flat)

    def _judge(self, name: str, one: Any, other: Any) -> None:
        try:
            shape = torch.broadcast_shapes(one.shape, other.shape)
        except RuntimeError:
            return
        many = 1
        for size in shape:
            many *= size
        if many > max(one.numel(), other.numel()):
            related = tuple(p for p in (made_at(one), made_at(other)) if p[1])
            text = (
                f"{name} of {list(one.shape)} and {list(other.shape)} is taken over {list(shape)}, each with each: bring both "
                "to one shape"
            )
            self.session.find(self.SLUG, "critical", text, None, related)
