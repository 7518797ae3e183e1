"""Calls that hold calls: a checkpointed block with its recomputation, and an autograd Function with its backward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from firstcause.minimize.program import Call, Program, Ref

Values = dict[int, Any]


@dataclass(frozen=True)
class Region(ABC):
    """The calls inside; ``given`` are their numbers for the arguments of the call that holds them, by position."""

    given: tuple[int, ...]
    runs: tuple[tuple[Call, ...], ...]
    returned: tuple[tuple[Any, ...], ...]

    @abstractmethod
    def __call__(self, *args: Any) -> Any:
        """Run what is inside; each kind does it in its own way."""

    def with_run(self, number: int, calls: tuple[Call, ...]) -> Region:
        return replace(self, runs=(*self.runs[:number], calls, *self.runs[number + 1 :]))

    def numbers(self) -> set[int]:
        """What the calls inside and what they return ask for."""
        used = {n for run in self.runs for call in run for n in call.inputs()}
        return used | {x.number for values in self.returned for x in values if isinstance(x, Ref)}


@dataclass(frozen=True)
class Checkpointed(Region):
    """Runs its first calls in forward and, from the second time on, its last ones."""

    def __call__(self, *args: Any) -> Any:
        times: list[int] = []

        def block(*inputs: Any) -> Any:
            number = min(len(times), len(self.runs) - 1)
            times.append(number)
            values = run(self.runs[number], dict(zip(self.given, inputs, strict=False)))
            return tuple(valued(self.returned[number], values))

        return checkpoint(block, *args, use_reentrant=False)


@dataclass(frozen=True)
class Custom(Region):
    """An autograd Function: the first run is its forward, the second its backward, of the gradients ``arriving``."""

    arriving: tuple[int, ...] = ()
    name: str = "Op"

    def saved(self) -> list[int]:
        """What backward needs of forward."""
        forward, backward = self.runs
        known = {*self.given, *(n for call in forward for n in call.outputs)} - {None}
        asked = [n for call in backward for n in call.inputs()]
        asked += [x.number for x in self.returned[1] if isinstance(x, Ref)]
        return list(dict.fromkeys(n for n in asked if n in known))

    def __call__(self, *args: Any) -> Any:
        outer, saved = self, self.saved()

        def forward(ctx: Any, *inputs: Any) -> Any:
            values = run(outer.runs[0], dict(zip(outer.given, inputs, strict=False)))
            ctx.save_for_backward(*(values[n] for n in saved))
            made = tuple(valued(outer.returned[0], values))
            return made[0] if len(made) == 1 else made

        def backward(ctx: Any, *gradients: Any) -> Any:
            values = dict(zip(saved, ctx.saved_tensors, strict=True))
            values |= dict(zip(outer.arriving, gradients, strict=False))
            return tuple(valued(outer.returned[1], run(outer.runs[1], values)))

        members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
        kind: Any = type(outer.name, (torch.autograd.Function,), members)
        return kind.apply(*args)


def run(calls: Iterable[Call], values: Values) -> Values:
    """``values`` with what the calls make of them; whatever a call raises comes through."""
    for call in calls:
        args, kwargs = call.given(values)
        call.keep(call.function(*args, **kwargs), values)
    return values


def valued(returned: Iterable[Any], values: Values) -> list[Any]:
    return [values[x.number] if isinstance(x, Ref) else x for x in returned]


def regions(program: Program) -> list[tuple[int, Region]]:
    """The calls of a program that hold calls, by their place."""
    held: list[tuple[int, Any]] = [(n, call.function) for n, call in enumerate(program.calls)]
    return [(n, function) for n, function in held if isinstance(function, Region)]


def every_call(program: Program) -> Iterator[Call]:
    """The calls of a program, and those inside of them."""
    yield from program.calls
    for _, region in regions(program):
        for inner in region.runs:
            yield from inner
