"""Modules without data: moved in place, so that an optimizer keeps its parameters, and never initialised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor

from firstcause.check.dry.child import pretrained

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

# Modules in whose forward we are, outermost first.
inside: list[Any] = []


def install(session: Session) -> None:
    for name in dir(nn.init):
        if name.endswith("_") and not name.startswith("_") and callable(getattr(nn.init, name)):
            setattr(nn.init, name, _untouched)
    nn.Module._apply = _apply
    call, train, zero = nn.Module.__call__, nn.Module.train, nn.Module.zero_grad

    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        inside.append(self)
        session.calls += 1
        try:
            out = call(self, *args, **kwargs)
        finally:
            inside.pop()
        if inside:
            session.emit("inner", self, out)
        elif any(True for _ in self.parameters()):
            session.forwards += 1
            session.emit("forward", self, args, out)
        else:
            session.emit("inner", self, out)
        return out

    depth = [0]

    def moded(self: Any, mode: bool = True) -> Any:
        depth[0] += 1
        try:
            result = train(self, mode)
        finally:
            depth[0] -= 1
        if not depth[0]:
            session.emit("moded", self, mode)
        return result

    def cleared(self: Any, set_to_none: bool = True) -> None:
        session.emit("cleared", list(self.parameters()))
        zero(self, set_to_none)

    load = nn.Module.load_state_dict

    def loaded(self: Any, state_dict: Any, strict: bool = True, *args: Any, **kwargs: Any) -> Any:
        for module in self.modules():
            module.fc_loaded = True
        if pretrained.is_unset(state_dict):
            return nn.modules.module._IncompatibleKeys([], [])
        session.emit("restored", self, state_dict, strict)
        return load(self, state_dict, strict, *args, **kwargs)

    for name in ("register_forward_hook", "register_forward_pre_hook"):
        setattr(nn.Module, name, _hooking(session, getattr(nn.Module, name)))
    nn.Module.load_state_dict = loaded
    nn.Module.__call__ = called
    nn.Module.train = moded
    nn.Module.zero_grad = cleared


def _hooking(session: Session, original: Any) -> Any:
    def register(self: Any, *args: Any, **kwargs: Any) -> Any:
        session.emit("hooked", self)
        return original(self, *args, **kwargs)

    return register


def _untouched(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    return tensor


def _apply(self: Any, fn: Any, recurse: bool = True) -> Any:
    if recurse:
        for child in self.children():
            child._apply(fn)
    for name, parameter in self._parameters.items():
        if parameter is not None:
            self._parameters[name] = _moved(parameter, fn)
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = fn(buffer)
    return self


def _moved(parameter: Any, fn: Any) -> Any:
    with torch.no_grad():
        there = fn(parameter)
    if there is parameter:
        return parameter
    if isinstance(parameter, FakeTensor) and there.dtype == parameter.dtype:
        # torch itself changes the parameter in place; a new one would be unknown to an optimizer.
        parameter.fake_device = there.device
        if parameter.grad is not None:
            parameter.grad.fake_device = there.device
        return parameter
    known = parameter.__dict__.get("fc_moved")
    if known is not None and known.dtype == there.dtype:
        return known
    new = nn.Parameter(there, requires_grad=parameter.requires_grad)
    parameter.fc_moved = new
    for optimizer in everywhere():
        for group in optimizer.param_groups:
            group["params"] = [new if p is parameter else p for p in group["params"]]
    return new


_optimizers: list[Any] = []


def everywhere() -> list[Any]:
    """All optimizers that were made, in their order."""
    return _optimizers
