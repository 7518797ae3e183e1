"""``binary_cross_entropy_with_logits`` of what went through sigmoid already.

Seen: its input is the output of sigmoid, changed in shape or precision at most.
Refuted by: anything computed from it in between.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.tags import made_at, tag
from firstcause.check.dry.child.watcher import Watcher


class SigmoidBeforeLogits(Watcher):
    SLUG = "sigmoid-before-bce-logits"

    def loss(self, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        if name == "binary_cross_entropy_with_logits" and tag(inputs[0]) == "sigmoid":
            made = made_at(inputs[0])
            text = (
                "binary_cross_entropy_with_logits gets the output of sigmoid, and takes its sigmoid again: "
                "hand it the values before"
            )
            self.session.find(self.SLUG, "critical", text, None, (made,) if made[1] else ())
        elif name == "binary_cross_entropy_with_logits" and tag(inputs[0]) == "linear":
            self.session.fine(self.SLUG, self.session.place())
