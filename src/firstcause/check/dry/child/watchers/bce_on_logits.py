"""``binary_cross_entropy`` of a layer's plain output, which is no probability.

Seen: its input is the output of a linear or convolution layer, changed in shape or precision at most.
Refuted by: anything computed from it in between.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.tags import made_at, tag
from firstcause.check.dry.child.watcher import Watcher


class BceOnLogits(Watcher):
    SLUG = "bce-on-logits"

    def loss(self, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        if name == "binary_cross_entropy" and tag(inputs[0]) == "linear":
            made = made_at(inputs[0])
            text = (
                "binary_cross_entropy gets a layer's plain output, which leaves 0..1 and raises: use "
                "binary_cross_entropy_with_logits"
            )
            self.session.find(self.SLUG, "critical", text, None, (made,) if made[1] else ())
        elif name == "binary_cross_entropy" and tag(inputs[0]) == "sigmoid":
            self.session.fine(self.SLUG, self.session.place())
