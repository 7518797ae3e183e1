"""Gradients are clipped while they are still multiplied by the GradScaler's factor.

Seen: backward from a scaled loss, then clipping of the same gradients, without ``unscale_`` between.
Refuted by: ``unscale_`` before, a scaler that is switched off.
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.watcher import Watcher


class ClipBeforeUnscale(Watcher):
    SLUG = "clip-before-unscale"

    scaled = False

    def backward_done(self, root: Any) -> None:
        self.scaled = getattr(root, "fc_scaled", False)
        if self.scaled:
            for optimizer in everywhere():
                optimizer.fc_scaled = True

    def clipped(self, parameters: list[Any]) -> None:
        ids = {id(p) for p in parameters}
        for optimizer in everywhere():
            if (
                self.scaled
                and getattr(optimizer, "fc_scaled", False)
                and any(id(p) in ids for p in held(optimizer))
            ):
                text = (
                    "the gradients are clipped while the GradScaler's factor is still in them: call "
                    "scaler.unscale_(optimizer) before"
                )
                self.session.find(self.SLUG, "critical", text)
            elif getattr(optimizer, "fc_scaled", None) is False and any(
                id(p) in ids for p in held(optimizer)
            ):
                self.session.fine(self.SLUG, self.session.place())
