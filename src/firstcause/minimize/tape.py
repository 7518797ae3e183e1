"""The tape of a failing step: each call of torch's that the program makes, as it is made, in the sealed replay of the step.

The replay's observer: it holds every tensor that it has seen, so that none is taken for another, and a copy of those that
the step did not make. When the step has failed, the tape is made smaller in the same sealed process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from firstcause.minimize import failure
from firstcause.minimize.failure import Failure
from firstcause.minimize.inside import Inside
from firstcause.minimize.made_small import made_small
from firstcause.minimize.program import Call, Leaf, Ref, Settings, draws

MOST_CALLS = 200_000
# What a Function saved is looked for among so many tensors.
NEWEST = 2000
DEVICES = ("cpu", "cuda")
# These read or mark a tensor and change no value.
ASIDE = (
    "requires_grad",
    "retain_grad",
    "register_hook",
    "is_",
    "__len__",
    "__hash__",
    "__format__",
    "__repr__",
    "size",
)


class Tape(TorchFunctionMode):  # type: ignore[misc]
    """Observe everything between ``__enter__`` and ``__exit__``; ``facts`` gives the smallest program as plain data."""

    def __init__(self, recorder: Any = None, window: Any = None) -> None:
        super().__init__()
        self.leaves: dict[int, Leaf] = {}
        self.calls: list[Call] = []
        # Of each call, the block or Function that it was made in, and which run of that.
        self.places: list[tuple[int, int] | None] = []
        self.births: list[tuple[int, Failure]] = []
        self.raised: list[tuple[BaseException, int]] = []
        self.drawn: dict[int, torch.Tensor] = {}
        self.numbers: dict[int, int] = {}
        self.held: list[torch.Tensor] = []
        self.inside = Inside(self._given, self._made, self._alike, self._listening)
        self.calling = 0

    def __enter__(self) -> Any:
        self.inside.__enter__()
        return super().__enter__()

    def __exit__(self, *ended: Any) -> None:
        super().__exit__(*ended)
        self.inside.__exit__()

    def pass_begins(self) -> None:
        """The replay begins a pass of the step: the tape goes on."""

    def loss(self, value: torch.Tensor) -> None:
        """The step's loss is on the tape as the tensor that ``backward`` is called on."""

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """What the engine calls while a call is made is heard as well: torch hides the mode from its own calls."""
        calling, self.calling = self.calling, 0
        try:
            if calling:
                TorchFunctionMode.__enter__(self)
            yield
        finally:
            if calling:
                TorchFunctionMode.__exit__(self, None, None, None)
            self.calling = calling

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if len(self.calls) >= MOST_CALLS:
            return func(*args, **kwargs)
        name = resolve_name(func) or getattr(func, "__qualname__", str(func))
        # Before the call: it may write into its arguments.
        numbered: tuple[tuple[Any, ...], dict[str, Any]] = tree_map(self._given, (args, kwargs))
        settings = _settings()
        self.calling += 1
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            self._append(Call(func, name, numbered[0], numbered[1], (), settings))
            # How a recomputation that has got all it needs is ended.
            if type(error).__name__ != "_StopRecomputationError":
                self.raised.append((error, len(self.calls) - 1))
            raise
        finally:
            self.calling -= 1
        made = [x for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor)]
        if not counts(name, made):
            return result
        outputs = tuple(
            self._made(x) if isinstance(x, torch.Tensor) else None for x in tree_flatten(result)[0]
        )
        call = Call(func, name, numbered[0], numbered[1], outputs, settings)
        self._append(call)
        self._look(call, made, tree_leaves((args, kwargs)))
        return result

    def _append(self, call: Call) -> None:
        self.calls.append(call)
        self.places.append(self.inside.at)

    def _given(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        number = self.numbers.get(id(x))
        if number is None and self.inside.at is not None and self.inside.at[1]:
            # What was saved for backward comes back as another object.
            number = self._alike(x)
        if number is None:
            number = self._number(x)
            with torch._C.DisableTorchFunction():
                # What an earlier step made is cut from its graph here.
                self.leaves[number] = Leaf(x.detach().clone(), trained=x.requires_grad)
        return Ref(number)

    def _made(self, x: torch.Tensor) -> int:
        return self.numbers.get(id(x)) or self._number(x)

    def _alike(self, x: torch.Tensor) -> int | None:
        """The newest tensor that lies in the same memory in the same shape."""
        with torch._C.DisableTorchFunction():
            for number in range(len(self.held), max(0, len(self.held) - NEWEST), -1):
                other = self.held[number - 1]
                if other.shape == x.shape and other.dtype == x.dtype and _memory(other) == _memory(x):
                    return number
        return None

    def _number(self, x: torch.Tensor) -> int:
        self.held.append(x)
        self.numbers[id(x)] = len(self.held)
        return len(self.held)

    def _look(self, call: Call, made: list[Any], given: list[Any]) -> None:
        """Whether this call makes a bad value that nobody put there, and what it drew at random."""
        with torch._C.DisableTorchFunction():
            bad = failure.born(call, made, given)
            if bad:
                self.births.append((len(self.calls) - 1, Failure("made", call.name, bad)))
            if draws(call.name):
                self.drawn |= {self.numbers[id(x)]: x.detach().clone() for x in made}

    def facts(self, parameters: list[torch.Tensor], error: BaseException | None) -> dict[str, Any]:
        """The smallest program that fails as the step did: its lines, and what was tried for it."""
        return made_small(self, parameters, error)


def _memory(x: torch.Tensor) -> Any:
    return (x.data_ptr(), x.stride()) if x.layout is torch.strided and x.numel() else id(x)


def _settings() -> Settings:
    regions = tuple(
        (d, torch.get_autocast_dtype(d))
        for d in DEVICES
        if torch.is_autocast_enabled(d)  # since torch 2.4
    )
    return Settings(torch.is_grad_enabled(), regions)


def counts(name: str, made: list[Any]) -> bool:
    """Whether a call made or wrote something."""
    short = name.rpartition(".")[2] if not name.endswith(("__get__", "__set__")) else name.split(".")[-2]
    if (
        name.endswith("backward")
        or short == "__setitem__"
        or (short.endswith("_") and not short.endswith("__"))
    ):
        return True
    return bool(made) and not short.startswith(ASIDE)
