"""Series of which each value is predicted from those before, by a model whose outputs change with what comes after them.

A batch whose targets are its inputs, moved by one place, is passed through the model again with its last value changed:
what is given out for earlier places must stay. The first part that changes there looks ahead.
"""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.loss_functions import LOSSES
from firstcause.lab.quiet_pass import quiet

# A series of this length at least, so that values that are equal are no accident; and so many looks at most.
LEAST, MOST_LOOKS, MOST_PARTS = 8, 2, 200


class Watch(Watcher):
    """Facts: ``ahead``: the model's class, the part's path and class in it, and how many earlier places change."""

    CALLS = LOSSES

    def start(self) -> None:
        self.running: list[torch.nn.Module] = []
        self.last: tuple[torch.nn.Module, tuple[Any, ...], torch.Tensor] | None = None
        self.looks = 0
        self.busy = False
        self.found: dict[str, Any] | None = None
        torch.nn.modules.module.register_module_forward_pre_hook(
            lambda module, args: self.running.append(module)
        )

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        while self.running and self.running.pop() is not module:
            pass
        if self.busy or self.running or not torch.is_grad_enabled() or not args:
            return
        given = args[0]
        both = isinstance(given, torch.Tensor) and isinstance(result, torch.Tensor)
        if both and given.is_floating_point() and result.requires_grad:
            self.last = module, args, result

    def called(self, call: Call) -> None:
        target = call.args[1] if len(call.args) > 1 else None
        if self.busy or self.last is None or self.looks >= MOST_LOOKS or not isinstance(target, torch.Tensor):
            return
        module, args, result = self.last
        axis = _moved_by_one(args[0], target)
        if axis is None or call.args[0].numel() != result.numel():
            return
        self.looks += 1
        self.busy = True
        try:
            ahead = _looks_ahead(module, args, axis)
        except (TypeError, RuntimeError, IndexError, ValueError):
            # A pass that cannot be made twice.
            return
        finally:
            self.busy = False
        if ahead is not None:
            self.found = {
                "site": places.here(),
                "class": type(module).__name__,
                "length": args[0].shape[axis],
            } | ahead

    def facts(self) -> dict[str, Any]:
        return {"ahead": self.found}


def _moved_by_one(given: torch.Tensor, target: torch.Tensor) -> int | None:
    """The axis along which each target is the input's next value; None where it is not."""
    if not target.is_floating_point() or given.numel() != target.numel() or given.dim() < 2:
        return None
    aim = target.detach().reshape(given.shape)
    for axis in range(1, given.dim()):
        size = given.shape[axis]
        if size < LEAST:
            continue
        now, then = aim.narrow(axis, 0, size - 1), given.detach().narrow(axis, 1, size - 1)
        if bool((now == then).all()) and float(then.float().std()) > 0:
            return axis
    return None


def _looks_ahead(module: torch.nn.Module, args: tuple[Any, ...], axis: int) -> dict[str, Any] | None:
    """The first part whose output changes at an earlier place than what it is given, once the last value changes."""
    given = args[0].detach()
    size = given.shape[axis]
    changed = given.clone()
    changed.narrow(axis, size - 1, 1).add_(given.float().std().to(given.dtype) + 1)
    first, later = _parts(module, (given, *args[1:])), _parts(module, (changed, *args[1:]))
    for (name, took, gave), (_, took_then, gave_then) in zip(first, later, strict=False):
        before, after = _first_change(took, took_then, size), _first_change(gave, gave_then, size)
        kind = type(module.get_submodule(name)).__name__
        # Statistics over all places tell next to nothing of one of them.
        if before is not None and after is not None and after < before and "Norm" not in kind:
            return {"path": name, "kind": kind, "earlier": before - after}
    return None


def _parts(module: torch.nn.Module, args: tuple[Any, ...]) -> list[tuple[str, torch.Tensor, torch.Tensor]]:
    """What each part without parts of its own took and gave in one pass, in order; random numbers and buffers as before."""
    seen: list[tuple[str, torch.Tensor, torch.Tensor]] = []

    def keep(name: str) -> Any:
        def hook(part: torch.nn.Module, took: Any, gave: Any) -> None:
            both = took and isinstance(took[0], torch.Tensor) and isinstance(gave, torch.Tensor)
            if both and len(seen) < MOST_PARTS:
                seen.append((name, took[0].detach(), gave.detach()))

        return hook

    hooks = [
        part.register_forward_hook(keep(name))
        for name, part in module.named_modules()
        if name and not any(True for _ in part.children())
    ]
    try:
        with quiet(module):
            module(*args)
    finally:
        for hook in hooks:
            hook.remove()
    return seen


def _first_change(one: torch.Tensor, other: torch.Tensor, size: int) -> int | None:
    """The first place along the axis of the series at which two tensors differ; None without such an axis or change."""
    if one.shape != other.shape:
        return None
    axes = [a for a in range(1, one.dim()) if one.shape[a] == size]
    if len(axes) != 1:
        return None
    rest = [a for a in range(one.dim()) if a != axes[0]]
    differs = (one != other).permute(axes[0], *rest).flatten(1).any(1).nonzero()
    return int(differs[0]) if len(differs) else None
