"""The record of bad values: where one was born, from which operands, and what only the replay can measure there."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from firstcause.lab import mechanisms, places, tensors
from firstcause.lab.op_names import name_of_op
from firstcause.lab.wider import Wider

# Ops that write a constant: an infinity of theirs is a mask, and no cause unless it is an ancestor.
CONSTANT = frozenset(
    {
        "full",
        "full_like",
        "fill",
        "fill_",
        "masked_fill",
        "masked_fill_",
        "scalar_tensor",
        "new_full",
        "where",
        "index_fill_",
        "index_put_",
        "lift_fresh",
    }
)
# A finite number that stands for a masking infinity, as finfo.min does, becomes one when it is narrowed.
MASKING = -1e9
# Ops whose target is overwritten whole: what it held before takes no part.
OVERWRITING = frozenset({"copy_", "fill_", "zero_", "normal_", "uniform_"})
MOST_BIRTHS = 200
MOST_ELEMENTS = 4_000_000


@dataclass
class Call:
    """One op with its arguments as they were before it ran, and its number among the step's ops."""

    func: Any
    name: str
    args: Any
    kwargs: Any
    number: int = -1


def call_of(func: Any, args: Any, kwargs: Any) -> Call:
    """The call, with copies of the tensors that it is about to write."""
    name = name_of_op(func)
    if not func._schema.is_mutable or name in OVERWRITING:
        return Call(func, name, args, kwargs)
    written = [a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments]
    kept = tuple(_copied(a) if w else a for a, w in zip(args, written, strict=False))
    return Call(func, name, kept + tuple(args[len(written) :]), kwargs)


def _copied(argument: Any) -> Any:
    def copy(x: Any) -> Any:
        small = isinstance(x, torch.Tensor) and x.layout is torch.strided and x.numel() <= MOST_ELEMENTS
        return x.detach().clone() if small else x

    return tree_map(copy, argument)


class Births:
    """All births of one replay, in order; their numbers are what ancestors are told by."""

    def __init__(
        self, origin: Callable[[torch.Tensor], dict[str, Any]], module: Callable[[], str | None]
    ) -> None:
        self.origin, self.module = origin, module
        self.found: list[dict[str, Any]] = []
        self.wider = Wider()
        self._ancestors: dict[int, tuple[weakref.ref[torch.Tensor], frozenset[int]]] = {}

    def ancestors(self, tensor: torch.Tensor) -> frozenset[int]:
        """The births behind a tensor."""
        entry = self._ancestors.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else frozenset()

    def made(
        self,
        call: Call,
        op: dict[str, Any],
        tensor: torch.Tensor,
        state: int,
        worst: int,
        before: frozenset[int],
    ) -> None:
        """What an op made: a birth where it is worse than all that the op was given."""
        if state > worst and len(self.found) < MOST_BIRTHS:
            before = before | {self._born(call, op, tensor, state, before)}
        self._ancestors[id(tensor)] = (weakref.ref(tensor), before)
        self.wider.remember(call.func, call.args, call.kwargs, tensor)

    def source(self, tensor: torch.Tensor, state: int, used_by: int) -> None:
        """A bad value that no op of the step made, met first by the op of this number."""
        rows, first = tensors.bad_rows(tensor)
        self.found.append(
            {
                "op": "source",
                "number": -1,
                "used_by": used_by,
                "kind": "nan" if state == tensors.NAN else "inf",
                "phase": "forward",
                "site": places.of_frame(sys._getframe(1)),
                "module": self.module(),
                "output": tensors.figures(tensor),
                "origin": self.origin(tensor),
                "rows": rows,
                "first_rows": first,
                "whole_columns": tensors.whole_columns(tensor),
                "element": tensors.first_bad(tensor),
                "ancestors": [],
            }
        )
        self._ancestors[id(tensor)] = (weakref.ref(tensor), frozenset({len(self.found) - 1}))

    def _born(
        self, call: Call, op: dict[str, Any], made: torch.Tensor, state: int, ancestors: frozenset[int]
    ) -> int:
        node = torch._C._current_autograd_node()
        element = tensors.first_bad(made)
        leaves = tree_leaves((call.args, call.kwargs))
        operands = [x for x in leaves if isinstance(x, (torch.Tensor, int, float))]
        rows, first = tensors.bad_rows(made)
        met = [tensors.at(x, element, made.shape) for x in operands]
        signs = {"+": float("inf"), "-": float("-inf")}
        self.found.append(
            {
                "op": call.name,
                "overload": str(call.func),
                "number": call.number,
                "kind": "nan" if state == tensors.NAN else "inf",
                "signs": [s for s, v in signs.items() if bool((made.detach() == v).any())],
                "phase": op["phase"],
                "node": node.name() if node is not None else None,
                "site": op["site"] if node is not None else places.here(),
                "module": op["module"],
                "constant": state == tensors.INF and _is_constant(call.name, met),
                "operands": [tensors.figures(x) for x in operands],
                "operands_at": met,
                "inputs": op["inputs"],
                "output": tensors.figures(made),
                "rows": rows,
                "first_rows": first,
                "element": element,
                "ancestors": sorted(ancestors),
            }
            | mechanisms.measure(call.name, call.func, call.args, call.kwargs, made)
            | self.wider.measure(call.func, call.args, call.kwargs, made, element)
        )
        return len(self.found) - 1


def _is_constant(name: str, met: list[float | None]) -> bool:
    if name == "_to_copy":
        return bool(met) and met[0] is not None and met[0] <= MASKING
    return name in CONSTANT
