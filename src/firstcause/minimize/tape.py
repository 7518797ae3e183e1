"""The tape of a failing step: each call of torch's that the program makes, as it is made, in the sealed replay of the step.

The replay's observer: it holds every tensor that it has seen, so that none is taken for another, and a copy of those that
the step did not make. When the step has failed, the tape is made smaller in the same sealed process.
"""

from __future__ import annotations

import os
import time
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map

from firstcause.minimize import failure
from firstcause.minimize.failure import Failure, badness
from firstcause.minimize.program import Call, Leaf, Program, Ref, Settings
from firstcause.minimize.smaller import smallest
from firstcause.minimize.trial import Trials
from firstcause.minimize.writing import Unwritable, written

BUDGET = "FIRSTCAUSE_MINIMIZE_SECONDS"
MOST_CALLS = 200_000
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

    def __init__(self, recorder: Any, window: Any) -> None:
        super().__init__()
        self.leaves: dict[int, Leaf] = {}
        self.calls: list[Call] = []
        self.failed: Failure | None = None
        self.numbers: dict[int, int] = {}
        self.held: list[torch.Tensor] = []
        self.why = ""

    def pass_begins(self) -> None:
        """The replay begins a pass of the step: the tape goes on."""

    def loss(self, value: torch.Tensor) -> None:
        """The step's loss is on the tape as the tensor that ``backward`` is called on."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.failed is not None or len(self.calls) >= MOST_CALLS:
            return func(*args, **kwargs)
        name = resolve_name(func) or getattr(func, "__qualname__", str(func))
        # Before the call: it may write into its arguments.
        numbered: tuple[tuple[Any, ...], dict[str, Any]] = tree_map(self._given, (args, kwargs))
        settings = _settings()
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            self.calls.append(Call(func, name, numbered[0], numbered[1], (), settings))
            self.failed = failure.raised(name, error)
            raise
        made = [x for x in tree_flatten(result)[0] if isinstance(x, torch.Tensor)]
        if not _counts(name, made):
            return result
        outputs = tuple(
            self._made(x) if isinstance(x, torch.Tensor) else None for x in tree_flatten(result)[0]
        )
        call = Call(func, name, numbered[0], numbered[1], outputs, settings)
        self.calls.append(call)
        self._look(call, made, tree_leaves((args, kwargs)))
        return result

    def _given(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor):
            return x
        number = self.numbers.get(id(x))
        if number is None:
            number = self._number(x)
            with torch._C.DisableTorchFunction():
                # What an earlier step made is cut from its graph here.
                self.leaves[number] = Leaf(x.detach().clone(), trained=x.requires_grad)
        return Ref(number)

    def _made(self, x: torch.Tensor) -> int:
        return self.numbers.get(id(x)) or self._number(x)

    def _number(self, x: torch.Tensor) -> int:
        self.held.append(x)
        self.numbers[id(x)] = len(self.held)
        return len(self.held)

    def _look(self, call: Call, made: list[Any], given: list[Any]) -> None:
        """Whether this call makes the first bad value that nobody put there."""
        with torch._C.DisableTorchFunction():
            bad = failure.born(call, made, given)
            if bad:
                self.failed = Failure("made", call.name, bad)

    def facts(self, parameters: list[torch.Tensor], error: BaseException | None) -> dict[str, Any]:
        """The smallest program that fails as the step did: its lines, and what was tried for it."""
        calls = tuple(self.calls)
        if self.failed is None:
            # Forward was finite and nothing raised: what backward made of it.
            backward = [n for n, call in enumerate(calls) if call.name.endswith("backward")]
            bad = badness([p.grad for p in parameters if p.grad is not None])
            if not backward or not bad:
                return {"why": "no call of torch failed in the replayed step"}
            calls = calls[: backward[-1] + 1]
            self.failed = Failure("gradient", calls[-1].name, bad)
        program = Program(self.leaves, calls)
        self.held.clear()
        trials = Trials(self.failed, time.monotonic() + float(os.environ.get(BUDGET, "40")))
        if not trials.fails(program.used()):
            return {
                "why": "the step's calls, made again one by one, do not fail the same way",
                "calls": len(calls),
            }
        small = smallest(program.used(), trials)
        try:
            lines = written(small, self.failed)
        except Unwritable as error:
            return {"why": str(error), "calls": len(calls), "left": len(small.calls), "tried": trials.tried}
        return {"script": lines, "calls": len(calls), "left": len(small.calls), "tried": trials.tried}


def _settings() -> Settings:
    regions = tuple(
        (d, torch.get_autocast_dtype(d))
        for d in DEVICES
        if torch.is_autocast_enabled(d)  # since torch 2.4
    )
    return Settings(torch.is_grad_enabled(), regions)


def _counts(name: str, made: list[Any]) -> bool:
    short = name.rpartition(".")[2] if not name.endswith(("__get__", "__set__")) else name.split(".")[-2]
    if (
        name.endswith("backward")
        or short == "__setitem__"
        or (short.endswith("_") and not short.endswith("__"))
    ):
        return True
    return bool(made) and not short.startswith(ASIDE)
