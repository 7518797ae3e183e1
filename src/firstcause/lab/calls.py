"""The calls of torch's API in a step that raised: what made each tensor, and what a call needs to be made again.

The ops of the dispatcher are too deep for this: many errors are raised above them, and the sizes that a library
function works out for its ops are constants there. Runs only in a sealed child, and only where the step raised.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from firstcause.lab import places
from firstcause.lab.ancestry import nearest_first
from firstcause.lab.names import name_in

# Larger tensors are replaced by zeros of their shape where a call is made again.
KEPT_ELEMENTS = 65_536
MOST_CALLS = 50_000
MOST_BEHIND = 400
LEAVING = frozenset({"numpy", "tolist", "item", "array"})
WRITING = frozenset({"setitem", "iadd", "isub", "imul", "itruediv"})


@dataclass(frozen=True, eq=False)
class Given:
    """A tensor that a call was given: made by which output of which call, and itself where it is small or a leaf."""

    made: tuple[int, int] | None
    shape: tuple[int, ...]
    dtype: torch.dtype
    device: str
    kept: torch.Tensor | None
    origin: dict[str, Any]

    def facts(self) -> dict[str, Any]:
        described = {"shape": list(self.shape), "dtype": str(self.dtype)[6:], "device": self.device}
        return described | ({"made_by": self.made[0]} if self.made is not None else self.origin)


@dataclass(eq=False)
class Call:
    """One call: its arguments with each tensor replaced by a ``Given``, and what it made."""

    number: int
    function: Any
    name: str
    args: Any
    kwargs: Any
    site: dict[str, Any] | None
    module: str | None
    grad: bool
    arrays: list[dict[str, Any]] = field(default_factory=list)
    made: list[dict[str, Any]] = field(default_factory=list)

    def given(self) -> Iterator[Given]:
        yield from (x for x in tree_leaves((self.args, self.kwargs)) if isinstance(x, Given))

    def facts(self) -> dict[str, Any]:
        inputs = [g.facts() for g in self.given()] + self.arrays
        result = self.made[0] if self.made else {}
        return {"function": self.name, "site": self.site, "module": self.module, "inputs": inputs} | result


class Calls(TorchFunctionMode):
    """Notes every call between ``__enter__`` and ``__exit__``; ``refused`` is the one that raised last."""

    def __init__(
        self,
        origin: Callable[[torch.Tensor], dict[str, Any]],
        module: Callable[[], str | None],
        running: Callable[[], list[dict[str, Any]]],
    ) -> None:
        super().__init__()
        self.origin, self.module, self.running = origin, module, running
        self.calls: list[Call] = []
        self.refused: tuple[Call, BaseException, list[dict[str, Any]], list[dict[str, Any]]] | None = None
        # What left torch for NumPy or Python, in order.
        self.left: list[dict[str, Any]] = []
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], tuple[int, int]]] = {}
        self._leaves: dict[int, tuple[weakref.ref[torch.Tensor], dict[str, Any]]] = {}
        self._arrays: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._from_numpy = torch.from_numpy

    def __enter__(self) -> Calls:
        # Not among the functions that a mode is asked about.
        torch.from_numpy = lambda array: self._called(self._from_numpy, (array,), {})
        super().__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        torch.from_numpy = self._from_numpy

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._called(func, args, kwargs or {})

    def _called(self, func: Any, args: Any, kwargs: Any) -> Any:
        name = name_of(func)
        if len(self.calls) >= MOST_CALLS:
            return func(*args, **kwargs)
        call = self._note(func, name, args, kwargs)
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            self.refused = (call, error, self.running(), list(places.stack(sys._getframe(2))))
            raise
        made = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        if name in WRITING and args and isinstance(args[0], torch.Tensor):
            made = [args[0]]
        if made:
            call.number = len(self.calls)
            self.calls.append(call)
        for index, tensor in enumerate(made):
            self._made[id(tensor)] = (weakref.ref(tensor), (call.number, index))
            call.made.append({"shape": list(tensor.shape), "dtype": str(tensor.dtype)[6:]})
        if name in LEAVING and args and isinstance(args[0], torch.Tensor):
            self._leave(call, name, result)
        return result

    def _note(self, func: Any, name: str, args: Any, kwargs: Any) -> Call:
        arrays = [x for x in tree_leaves((args, kwargs)) if is_array(x)]
        return Call(
            -1,
            func,
            name,
            tree_map(self.given, args),
            tree_map(self.given, kwargs),
            places.of_frame(sys._getframe(2), columns=True),
            self.module(),
            torch.is_grad_enabled(),
            [self.array(a) for a in arrays],
        )

    def given(self, value: Any) -> Any:
        """A tensor as a ``Given``; anything else as itself."""
        if not isinstance(value, torch.Tensor):
            return value
        entry = self._made.get(id(value))
        made = entry[1] if entry is not None and entry[0]() is value else None
        keeps = made is None or value.numel() <= KEPT_ELEMENTS
        origin = self._leaf(value) if made is None else {}
        shape = tuple(value.shape)
        return Given(made, shape, value.dtype, str(value.device), value if keeps else None, origin)

    def _leaf(self, tensor: torch.Tensor) -> dict[str, Any]:
        entry = self._leaves.get(id(tensor))
        if entry is None or entry[0]() is not tensor:
            found = {k: v for k, v in self.origin(tensor).items() if k in ("parameter", "writes", "input")}
            found = (found or {"other": True}) | name_in(sys._getframe(3), tensor)
            entry = self._leaves[id(tensor)] = (weakref.ref(tensor), found)
        return entry[1]

    # ------------------------------------------------------------------ the border to NumPy

    def _leave(self, call: Call, name: str, result: Any) -> None:
        given = next(call.given(), None)
        if given is None or not given.shape:
            return
        facts = {"as": name, "site": call.site, **given.facts()}
        if is_array(result):
            self._arrays[id(result)] = (weakref.ref(result), len(self.left))
        self.left.append(facts)

    def array(self, value: Any) -> dict[str, Any]:
        """An array in figures, with the number of the tensor in ``left`` that it shares memory with, if any."""
        facts: dict[str, Any] = {"array": True, "shape": list(value.shape), "dtype": str(value.dtype)}
        step = value
        while is_array(step):
            entry = self._arrays.get(id(step))
            if entry is not None and entry[0]() is step:
                return facts | {"left": entry[1]}
            step = step.base
        return facts

    # ------------------------------------------------------------------ the result

    def behind(self, given: list[Given]) -> set[int]:
        """The calls from which tensors got their values, the nearest ``MOST_BEHIND``."""
        numbers = nearest_first(_makers(given), lambda n: _makers(self.calls[n].given()))
        return set(islice(numbers, MOST_BEHIND))


def _makers(given: Iterable[Given]) -> list[int]:
    return [g.made[0] for g in given if g.made is not None]


def is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy's, which torch can be without."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def name_of(func: Any) -> str:
    """The name that a call is told by: ``sub`` for ``__sub__``, the attribute's for a property."""
    name = getattr(func, "__name__", "") or str(func)
    if name == "__get__":
        name = getattr(getattr(func, "__self__", None), "__name__", name)
    return str(name).strip("_") if name.startswith("__") else str(name)
