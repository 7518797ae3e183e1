"""GradScaler without values: its order of calls is checked by its own code, its numbers are never looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.amp import grad_scaler

from firstcause.check.dry.child.names import NAME

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

Real = grad_scaler.GradScaler
# Optimizers whose gradients are still scaled, by id.
scaled: set[int] = set()
made: list[Any] = []


def install(session: Session) -> None:
    begin = Real.__init__

    def created(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        made.append(self)

    def scale(self: Any, outputs: Any) -> Any:
        if not self._enabled:
            return outputs
        if not isinstance(outputs, torch.Tensor):
            return type(outputs)(scale(self, o) for o in outputs)
        if self._scale is None:
            self._lazy_init_scale_growth_tracker(outputs.device)
        result = outputs * 1.0
        result.fc_scaled = True
        for mark in ("fc_loss", "fc_divided"):
            if hasattr(outputs, mark):
                setattr(result, mark, getattr(outputs, mark))
        return result

    def unscale(self: Any, optimizer: Any, *rest: Any) -> Any:
        half = [
            p
            for g in optimizer.param_groups
            for p in g["params"]
            if p.grad is not None and p.grad.dtype == torch.float16
        ]
        if half:
            raise ValueError("Attempting to unscale FP16 gradients.")
        optimizer.fc_scaled = False
        return {torch.device(NAME, 0): torch.zeros(())}

    def maybe_step(self: Any, optimizer: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        optimizer.fc_scaled = False
        return optimizer.step(*args, **kwargs)

    Real.__init__ = created
    Real.scale = scale
    Real._unscale_grads_ = unscale
    Real._maybe_opt_step = maybe_step
    torch._amp_update_scale_ = lambda *args, **kwargs: None
    Real.get_scale = lambda self: 1.0
    Real.state_dict = lambda self: {}
    Real.load_state_dict = lambda self, state: None


def enabled() -> bool:
    return any(s._enabled for s in made)
