"""Views that give axes another order without moving their elements, or that take rows apart in another order.

With ``settings["laid_out"]``, a list of [file, line], the elements there go with their axes.
"""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.layouts import order_of
from firstcause.lab.rows_merged import JOINING, Merged, Rows, crossed, merged_sizes, parts_shape

VIEWS = ("view", "reshape", "unflatten")
PARTING = ("chunk", "split", "tensor_split")


class Views(TorchFunctionMode):
    """Sees them between ``__enter__`` and ``__exit__``; those at the lines of ``laid_out`` are put right. Sealed child only."""

    def __init__(self, laid_out: frozenset[tuple[str, int]] = frozenset()) -> None:
        super().__init__()
        self.laid_out = laid_out
        self.seen: dict[tuple[str, int], dict[str, Any]] = {}
        self.orders: dict[tuple[tuple[int, ...], tuple[int, ...]], Any] = {}
        self.rows = Rows()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = str(getattr(func, "__name__", "")).strip("_")
        if not args or not isinstance(args[0], torch.Tensor):
            return result
        if name in PARTING:
            return self._parted(name, args[0], result)
        if not isinstance(result, torch.Tensor):
            return result
        if name not in JOINING and name not in VIEWS:
            self.rows.follow(name, args, result)
            return result
        shapes = tuple(args[0].shape), tuple(result.shape)
        known = self.rows.of(args[0])
        order, merged = self._order(name, known, *shapes)
        if order is None:
            self._joined(name, known, args[0], result)
            return result
        is_moved = self._note(name, args[0], shapes[1], order, merged)
        return laid_out(args[0], shapes[1], order) if is_moved else result

    def _note(
        self,
        name: str,
        given: torch.Tensor,
        after: tuple[int, ...],
        order: tuple[str, tuple[int, ...]],
        merged: Merged | None,
    ) -> bool:
        """Keep a view that mistakes axes; whether its elements are to go with them."""
        site = places.of_frame(sys._getframe(2), columns=True)
        if site is None:
            return False
        key = (site["file"], site["line"])
        one = {"site": site, "function": name, "before": list(given.shape), "after": list(after)}
        one |= {"merged": list(merged.sizes), "joined": merged.site} if merged is not None else {}
        self.seen.setdefault(
            key, one | {"which": order[0], "order": list(order[1]), "trained": 0, "times": 0}
        )
        self.seen[key]["times"] += 1
        self.seen[key]["trained"] += int(given.requires_grad)
        return key in self.laid_out

    def _parted(self, name: str, given: torch.Tensor, result: Any) -> Any:
        """Rows that are cut into as many parts as their last axis was long, by the first one's length."""
        known = self.rows.of(given)
        after = parts_shape(known.sizes, tuple(given.shape), result) if known is not None else None
        if known is None or after is None:
            return result
        order = ("after", (1, 0, *range(2, len(after))))
        is_moved = self._note(name, given, after, order, known)
        return laid_out(given, after, order).unbind(0) if is_moved else result

    def _order(
        self, name: str, known: Merged | None, before: tuple[int, ...], after: tuple[int, ...]
    ) -> tuple[tuple[str, tuple[int, ...]] | None, Merged | None]:
        """How the axes of a view lie in its elements, where it mistakes them; with it what its rows were, if that tells it."""
        if name not in VIEWS:
            return None, None
        if (before, after) not in self.orders:
            self.orders[before, after] = order_of(before, after) if prod(after) else None
        own = self.orders[before, after]
        if own is not None or known is None:
            return own, None
        order = crossed(known.sizes, before, after)
        return (("after", order), known) if order is not None else (None, None)

    def _joined(self, name: str, known: Merged | None, given: torch.Tensor, result: torch.Tensor) -> None:
        """Keep which axes became rows, or that they stay rows."""
        before, after = tuple(given.shape), tuple(result.shape)
        sizes = merged_sizes(before, after)
        if sizes is not None:
            site = places.of_frame(sys._getframe(2))
            if site is not None:
                self.rows.joined(result, Merged(sizes, site))
        elif known is not None and before[:1] == after[:1]:
            self.rows.joined(result, known)


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
