"""Optimizers: told to the watchers before and after a step; the arithmetic is done once, then only what it touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim import lr_scheduler
from torch.optim.optimizer import Optimizer

from firstcause.check.dry.child import autocast, modules

if TYPE_CHECKING:
    from firstcause.check.dry.child.fake import Mode
    from firstcause.check.dry.child.session import Session


def install(session: Session, mode: Mode) -> None:
    begin, zero, patch = Optimizer.__init__, Optimizer.zero_grad, Optimizer._patch_step_function

    def created(self: Any, params: Any, defaults: Any) -> None:
        begin(self, params, defaults)
        modules.everywhere().append(self)
        self.fc_order, self.fc_place = len(modules.everywhere()), session.place()

    def cleared(self: Any, set_to_none: bool = True) -> None:
        session.emit("cleared", held(self))
        zero(self, set_to_none)

    def patched(self: Any) -> None:
        patch(self)
        cls = type(self)
        if "fc_step" not in cls.__dict__:
            cls.fc_step = cls.step
            cls.step = _stepping(session, mode, cls.step, cls.__module__.startswith("torch.optim"))

    Optimizer.__init__, Optimizer.zero_grad = created, cleared
    Optimizer._patch_step_function = patched
    step = lr_scheduler.LRScheduler.step

    def scheduled(self: Any, *args: Any, **kwargs: Any) -> None:
        if getattr(self, "_fc_made", False):
            session.emit("scheduled", self)
        step(self, *args, **kwargs)

    start = lr_scheduler.LRScheduler.__init__

    def started(self: Any, *args: Any, **kwargs: Any) -> None:
        start(self, *args, **kwargs)
        self._fc_made, self.fc_place = True, session.place()

    lr_scheduler.LRScheduler.step, lr_scheduler.LRScheduler.__init__ = scheduled, started
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        _clipping(session, mode, name)


def held(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _stepping(session: Session, mode: Mode, original: Any, known: bool) -> Any:
    def step(self: Any, closure: Any = None, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "fc_stepping", False):
            return original(self, *([closure] if closure is not None else []), *args, **kwargs)
        self.fc_stepping = True
        result = None
        try:
            if closure is not None:
                # Evaluated once: whatever a line search would ask for, it computes the same.
                with torch.enable_grad():
                    result = closure()
            place = session.place()
            session.emit("step", self)
            mode.quiet += 1
            if closure is None:
                if known and self.state and all(p in self.state for p in held(self) if p.grad is not None):
                    with torch.no_grad():
                        # One at a time: older torch takes a tensor, and no list of them.
                        for parameter in held(self):
                            if parameter.grad is not None:
                                torch.autograd.graph.increment_version(parameter)
                    self._step_count_dry = True
                else:
                    result = original(self, *args, **kwargs)
            mode.quiet -= 1
            session.steps[id(self)] = session.steps.get(id(self), 0) + 1
            self._opt_called = True
            for parameter in held(self):
                if parameter.grad is not None:
                    parameter.fc_stepped = place
            session.emit("stepped", self)
            autocast.used.clear()
        finally:
            self.fc_stepping = False
        return result

    step.hooked = True  # type: ignore[attr-defined]
    return step


def _clipping(session: Session, mode: Mode, name: str) -> None:
    from torch.nn.utils import clip_grad

    original = getattr(clip_grad, name)

    def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
        session.emit("clipped", parameters)
        grads = [p.grad for p in parameters if p.grad is not None]
        return torch.ones((), device=grads[0].device if grads else "cpu")

    clip.__wrapped__ = original  # type: ignore[attr-defined]
    setattr(clip_grad, name, clip)
    setattr(torch.nn.utils, name, clip)
