"""Cross entropy whose first argument are the classes and whose second are the scores.

Seen: an integer input and a floating-point target of one dimension more.
Refuted by: targets that are probabilities, which have the input's shape.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.watcher import Watcher


class LossArgumentsSwapped(Watcher):
    SLUG = "loss-arguments-swapped"

    def loss(self, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        first, second = inputs
        if (
            name in ("cross_entropy", "nll_loss")
            and not first.dtype.is_floating_point
            and second.dtype.is_floating_point
            and second.dim() == first.dim() + 1
        ):
            text = (
                f"{name} gets {list(first.shape)} {first.dtype} as input and {list(second.shape)} {second.dtype} as "
                "target: the two stand in the wrong order"
            )
            self.session.find(self.SLUG, "critical", text)
        elif first.dtype.is_floating_point:
            self.session.fine(self.SLUG, self.session.place())
