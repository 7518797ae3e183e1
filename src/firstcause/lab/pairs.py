"""Two operands that hold as many values in shapes of different length: what comes of them holds one value a pair."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from firstcause.lab import places


class Pairs(TorchFunctionMode):
    """Sees such operands between ``__enter__`` and ``__exit__``; with ``align`` they get one shape. In a sealed child only.

    (64, 1) and (64,) give (64, 64) without an error. Axes put in on purpose, such as x[:, None] and x[None, :], have
    the same length and are left alone.
    """

    def __init__(self, align: bool) -> None:
        super().__init__()
        self.align = align
        self.seen: dict[tuple[str, int, str], dict[str, Any]] = {}
        self.distance: list[float] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        pair = args[:2]
        if not _are_pairs(pair):
            return func(*args, **(kwargs or {}))
        larger = 0 if pair[0].dim() > pair[1].dim() else 1
        flat = pair[larger].reshape(pair[1 - larger].shape)
        aligned = (flat, pair[1]) if larger == 0 else (pair[0], flat)
        result = func(*(aligned if self.align else pair), *args[2:], **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.requires_grad:
            self._note(func, pair, larger, result, aligned)
        return result

    def _note(self, func: Any, pair: Any, larger: int, result: torch.Tensor, aligned: Any) -> None:
        site = places.of_frame(sys._getframe(2), columns=True)
        if site is None:
            return
        name = getattr(func, "__name__", str(func)).strip("_")
        self.seen.setdefault(
            (site["file"], site["line"], name),
            {
                "site": site,
                "function": name,
                "operand": larger,
                "shapes": [list(p.shape) for p in pair],
                "shape": list(pair[larger].shape),
                "other": list(pair[1 - larger].shape),
                "trained": [p.requires_grad for p in pair],
                "result": list(result.shape),
            },
        )
        # Two values of the model's own are at no distance that is to become small.
        if pair[0].requires_grad != pair[1].requires_grad:
            with torch.no_grad():
                self.distance.append(float((aligned[0] - aligned[1]).float().pow(2).mean()))

    def take_distance(self) -> float | None:
        """The mean squared distance of the aligned operands since it was last taken; None where there were none."""
        taken, self.distance = self.distance, []
        return sum(taken) / len(taken) if taken else None


def _are_pairs(pair: Any) -> bool:
    # What a lazy module has not made yet has no shape.
    if len(pair) != 2 or not all(isinstance(p, torch.Tensor) and not is_lazy(p) for p in pair):
        return False
    one, other = pair
    return (
        abs(one.dim() - other.dim()) == 1
        and one.numel() == other.numel() > 1
        and (one.is_floating_point() and other.is_floating_point())
        and 1 in max(one.shape, other.shape, key=len)[-1:]
        and [s for s in one.shape if s != 1] == [s for s in other.shape if s != 1]
    )
