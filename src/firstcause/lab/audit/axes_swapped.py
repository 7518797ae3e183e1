"""Views that give axes another order without moving their elements.

With ``settings["laid_out"]``, a list of [file, line], the elements there go with their axes.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.layouts import order_of

VIEWS = ("view", "reshape")


class Views(TorchFunctionMode):
    """Sees them between ``__enter__`` and ``__exit__``; those at the lines of ``laid_out`` are put right. Sealed child only."""

    def __init__(self, laid_out: frozenset[tuple[str, int]] = frozenset()) -> None:
        super().__init__()
        self.laid_out = laid_out
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.orders: dict[tuple[tuple[int, ...], tuple[int, ...]], Any] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = str(getattr(func, "__name__", "")).strip("_")
        if name not in VIEWS or not isinstance(result, torch.Tensor) or not isinstance(args[0], torch.Tensor):
            return result
        shapes = tuple(args[0].shape), tuple(result.shape)
        if shapes not in self.orders:
            self.orders[shapes] = order_of(*shapes) if result.numel() else None
        order = self.orders[shapes]
        site = places.of_frame(sys._getframe(1), columns=True) if order is not None else None
        if site is None:
            return result
        key = (site["file"], site["line"])
        one = {"site": site, "function": name, "before": list(shapes[0]), "after": list(shapes[1])}
        self.seen.setdefault(
            key, one | {"which": order[0], "order": list(order[1]), "trained": 0, "times": 0}
        )
        self.seen[key]["times"] += 1
        self.seen[key]["trained"] += int(args[0].requires_grad)
        return laid_out(args[0], shapes[1], order) if key in self.laid_out else result


def laid_out(
    tensor: torch.Tensor, shape: tuple[int, ...], order: tuple[str, tuple[int, ...]]
) -> torch.Tensor:
    """The tensor in that shape, its elements gone with their axes."""
    which, axes = order
    if which == "before":
        return tensor.permute(axes).reshape(shape)
    inverse = [axes.index(i) for i in range(len(axes))]
    return tensor.reshape([shape[i] for i in axes]).permute(inverse)


class Watch(Watcher):
    """In the facts ``swapped``: each such view with both shapes."""

    def start(self) -> None:
        self.views = Views(frozenset((f, n) for f, n in self.settings.get("laid_out") or ()))
        self.views.__enter__()

    def facts(self) -> dict[str, Any]:
        return {"swapped": list(self.views.seen.values())}
