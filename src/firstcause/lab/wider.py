"""The same op once more in float32, where it was done in half precision: what its result would have been."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from firstcause.lab import tensors
from firstcause.lab.op_names import name_of_op

HALF = {torch.float16: "float16", torch.bfloat16: "bfloat16"}
MOST_ELEMENTS = 4_000_000
# Ops in bfloat16 that are kept, so that a chain of them can be followed back and done again.
KEPT, DEPTH = 48, 8
KEPT_ELEMENTS = 1_000_000


class Wider:
    """Keeps the last ops done in bfloat16, whose rounding makes a later op meet what is not there in float32."""

    def __init__(self) -> None:
        self._kept: deque[tuple[weakref.ref[torch.Tensor], Any, Any, Any]] = deque(maxlen=KEPT)

    def remember(self, func: Any, args: Any, kwargs: Any, made: torch.Tensor) -> None:
        if made.dtype is torch.bfloat16 and made.numel() <= KEPT_ELEMENTS and not func._schema.is_mutable:
            self._kept.append((weakref.ref(made), func, args, kwargs))

    def measure(
        self, func: Any, args: Any, kwargs: Any, made: torch.Tensor, element: list[int]
    ) -> dict[str, Any]:
        """The op's value in float32 at the bad element: from its own inputs, and with the ops before it widened too."""
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        half = next((HALF[x.dtype] for x in (made, *given) if x.dtype in HALF), None)
        if half is None or sum(x.numel() for x in given) > MOST_ELEMENTS:
            return {}
        facts: dict[str, Any] = {"half": half, "alone": _at(self._again(func, args, kwargs, 1), element)}
        if half == "bfloat16":
            facts["together"] = _at(self._again(func, args, kwargs, DEPTH), element)
        return {"wider": facts}

    def _again(self, func: Any, args: Any, kwargs: Any, depth: int) -> Any:
        """The op in float32, its inputs made again in float32 too, ``depth`` ops deep; None where that fails."""

        def widened(x: Any) -> Any:
            if isinstance(x, torch.dtype):
                return torch.float32 if x in HALF else x
            if not isinstance(x, torch.Tensor) or x.dtype not in HALF:
                return x
            kept = next((k for k in reversed(self._kept) if k[0]() is x), None) if depth > 1 else None
            made = self._again(kept[1], kept[2], kept[3], depth - 1) if kept is not None else None
            usable = isinstance(made, torch.Tensor) and made.shape == x.shape
            return made if usable else x.detach().float()

        if func._schema.is_mutable:
            functional = getattr(torch.ops.aten, name_of_op(func).rstrip("_"), None)
            if functional is None:
                return None
            func = functional
        try:
            with torch.no_grad():
                return func(*tree_map(widened, args), **tree_map(widened, kwargs))
        except (RuntimeError, TypeError, NotImplementedError):
            # An op with no float32 kernel of this form says nothing either way.
            return None


def _at(result: Any, element: list[int]) -> float | None:
    made = next((x for x in tree_leaves(result) if isinstance(x, torch.Tensor)), None)
    return None if made is None else tensors.at(made, element, made.shape)
