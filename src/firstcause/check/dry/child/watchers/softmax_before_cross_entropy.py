"""Cross entropy of what went through softmax already.

Seen: its input is the output of softmax, changed in shape or precision at most.
Refuted by: anything computed from it in between.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.tags import made_at, tag
from firstcause.check.dry.child.watcher import Watcher


class SoftmaxBeforeCrossEntropy(Watcher):
    SLUG = "softmax-before-cross-entropy"

    def loss(self, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        if name == "cross_entropy" and tag(inputs[0]) in ("softmax", "sigmoid"):
            made = made_at(inputs[0])
            text = (
                f"cross_entropy gets the output of {tag(inputs[0])}, and takes its softmax again: hand it the "
                "values before"
            )
            self.session.find(self.SLUG, "critical", text, None, (made,) if made[1] else ())
        elif name == "cross_entropy" and tag(inputs[0]) == "linear":
            self.session.fine(self.SLUG, self.session.place())
