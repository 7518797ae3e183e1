"""Where a training pass cuts its graph.

Gradient mode switched off, detach or ``.data`` of a tensor that has a graph, values taken out of it into Python or
NumPy, and choices of an index.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.gradient_modes import decorator_site

OFF, DETACH = "gradient mode off", "detach"
DETACHING = (torch.Tensor.detach, torch.Tensor.data.__get__)
# A result without a graph by what it is: nothing can be undone there. Each under the name that it is reported by.
ENDING = {
    torch.Tensor.tolist: "tolist",
    torch.argmax: "argmax",
    torch.Tensor.argmax: "argmax",
    torch.argmin: "argmin",
    torch.Tensor.argmin: "argmin",
    torch.multinomial: "multinomial",
    torch.Tensor.multinomial: "multinomial",
}


class Cuts(TorchFunctionMode):
    """Sees both between ``__enter__`` and ``__exit__``; those at the lines of ``undone`` have no effect. Sealed child only."""

    def __init__(self, undone: frozenset[tuple[str, int]] = frozenset()) -> None:
        super().__init__()
        self.undone = undone
        self.found: dict[tuple[str, int], dict[str, Any]] = {}
        self._off: list[tuple[str, int]] = []
        self._switch = torch._C._set_grad_enabled
        self._hook: Any = None

    def __enter__(self) -> Cuts:
        torch._C._set_grad_enabled = self._switched
        self._hook = torch.nn.modules.module.register_module_forward_pre_hook(self._runs)
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self._hook.remove()
        torch._C._set_grad_enabled = self._switch

    def _switched(self, mode: bool) -> Any:
        frame = sys._getframe(1)
        site = decorator_site(frame) or places.of_frame(frame)
        at = (site["file"], site["line"]) if site is not None else ("", 0)
        if not mode and at in self.undone:
            mode = True
        if not mode and site is not None and _leads_to_module(frame):
            self._note(at, site, OFF)
            self._off.append(at)
        elif mode:
            self._off = self._off[:-1]
        return self._switch(mode)

    def _runs(self, module: torch.nn.Module, inputs: Any) -> None:
        """A module with trainable parameters of its own runs without a graph: by the last switch."""
        own = [p for p in module.parameters(recurse=False) if p.requires_grad]
        if own and not torch.is_grad_enabled() and self._off:
            found = self.found[self._off[-1]]
            found["parameters"] |= {id(p) for p in own}
            found["training"] = found["training"] or module.training

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        first = args[0] if args else None
        kind = DETACH if func in DETACHING else ENDING.get(func)
        if kind is not None and isinstance(first, torch.Tensor) and first.grad_fn is not None:
            site = places.of_frame(sys._getframe(1))
            at = (site["file"], site["line"]) if site is not None else ("", 0)
            if kind == DETACH and at in self.undone:
                return first
            if site is not None:
                found = self._note(at, site, kind)
                found["parameters"] |= _behind(first)
                found["training"] = True
        return func(*args, **(kwargs or {}))

    def _note(self, at: tuple[str, int], site: dict[str, Any], kind: str) -> dict[str, Any]:
        new = {"site": site, "kind": kind, "parameters": set(), "training": False}
        return self.found.setdefault(at, new)


def _leads_to_module(frame: Any) -> bool:
    """Not torch's own switches around an optimizer's step and the like: the user's frame is the nearest."""
    while frame is not None and not places.is_user_file(frame.f_code.co_filename):
        if "/torch/optim/" in frame.f_code.co_filename:
            return False
        frame = frame.f_back
    return frame is not None


def _behind(tensor: torch.Tensor) -> set[int]:
    """The leaves that a tensor's graph ends in, by id."""
    found: set[int] = set()
    queue: list[Any] = [tensor.grad_fn]
    seen: set[Any] = set()
    while queue and len(seen) < 20_000:
        node = queue.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            found.add(id(leaf))
        queue += [n for n, _ in node.next_functions]
    return found
