"""backward() from a loss that is cut off from the model, or that was computed without gradients.

Seen: the root of backward has no graph; or it was computed while gradients were switched off.
Refuted by: a leaf that is itself optimized.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.tags import made_at
from firstcause.check.dry.child.watcher import Watcher


class DetachedLoss(Watcher):
    SLUG = "detached-loss"

    def backward(self, root: Any) -> None:
        if not isinstance(root, torch.Tensor):
            return
        if root.grad_fn is not None:
            self.session.fine("training-under-no-grad", self.session.place())
            return
        known = {id(p) for o in everywhere() for p in held(o)}
        if id(root) in known or not known:
            return
        made = made_at(root)
        related = (made,) if made[1] else ()
        if not root.requires_grad and not torch.is_grad_enabled():
            text = "backward() while gradients are switched off: the loss has no graph, and this raises"
            self.session.find("training-under-no-grad", "critical", text, None, related)
        elif not root.requires_grad:
            text = (
                "backward() from a loss that does not require a gradient: it is cut off from the model, and "
                "this raises"
            )
            self.session.find(self.SLUG, "critical", text, None, related)
        else:
            text = (
                "backward() from a tensor that nothing computed: it is cut off from the model, whose "
                "parameters get no gradient"
            )
            self.session.find(self.SLUG, "critical", text, made if made[1] else None)

    def backward_done(self, root: Any) -> None:
        if any(p.grad is not None for o in everywhere() for p in held(o)):
            self.session.fine(self.SLUG, self.session.place())
