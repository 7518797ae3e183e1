"""Values that leave the graph through Python or NumPy and come back as a new tensor: the same numbers, no history."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from firstcause.lab import places

if TYPE_CHECKING:
    from firstcause.lab.trace import Trace

MOST = 500
ELEMENTS = 100_000
NUMBERS = 64


class Departures:
    """``returns`` tells which op of the pass took such values in, and where they had left."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.left: list[tuple[torch.Tensor, dict[str, Any]]] = []
        self.numbers: dict[float, dict[str, Any]] = {}
        self.returns: list[dict[str, Any]] = []

    def after_op(self, number: int, given: list[torch.Tensor], result: Any) -> None:
        """Called after each op with its inputs and what it gave."""
        if torch._C._current_autograd_node() is not None or len(self.returns) >= MOST:
            return
        name = self.trace.ops[number]["op"]
        if self.left or self.numbers:
            for tensor in given:
                if tensor.grad_fn is None and not tensor.requires_grad and tensor.is_floating_point():
                    self._look(tensor, number)
        if name == "_local_scalar_dense" and given[0].requires_grad and len(self.numbers) < MOST:
            self.numbers[float(result)] = self._place(name)
        elif (
            name == "detach"
            and given[0].requires_grad
            and given[0].numel() <= ELEMENTS
            and len(self.left) < MOST
        ):
            self.left.append((result.clone(), self._place(name)))

    def _place(self, name: str) -> dict[str, Any]:
        return {"op": name, "left_at": places.of_frame(sys._getframe(3), columns=True)}

    def _look(self, tensor: torch.Tensor, number: int) -> None:
        if "other" not in self.trace.origin(tensor):
            return
        left = self._numbers_of(tensor) or next(
            (p for t, p in self.left if t.numel() > 1 and t.shape == tensor.shape and _equal(t, tensor)), None
        )
        if left is not None:
            back = places.of_frame(sys._getframe(3))
            self.returns.append(left | {"number": number, "back_at": back, "elements": tensor.numel()})

    def _numbers_of(self, tensor: torch.Tensor) -> dict[str, Any] | None:
        """The place where every one of a few numbers left; 0 and 1 are too common to tell anything."""
        if not self.numbers or not 0 < tensor.numel() <= NUMBERS:
            return None
        values = [float(v) for v in tensor.detach().reshape(-1)]
        if any(v in (0.0, 1.0) or v not in self.numbers for v in values):
            return None
        return self.numbers[values[0]]


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool((one.to(other.dtype) == other).all()) and bool((one != one.reshape(-1)[0]).any())
