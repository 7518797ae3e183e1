"""A straight program of tensor calls: what a tape holds, what reductions make smaller, and what a script is written from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map


@dataclass(frozen=True)
class Ref:
    """The tensor with this number, among the arguments of a call."""

    number: int


@dataclass(frozen=True)
class Settings:
    """What held around a call: gradients on or off, and the dtype of each device's autocast region."""

    grad: bool = True
    autocast: tuple[tuple[str, torch.dtype], ...] = ()

    def entered(self) -> ExitStack:
        stack = ExitStack()
        stack.enter_context(torch.set_grad_enabled(self.grad))
        for device, dtype in self.autocast:
            stack.enter_context(torch.autocast(device, dtype=dtype))
        return stack


@dataclass(frozen=True)
class Leaf:
    """A tensor that no call of the program makes: its value, and the expression that makes it, if a short one does."""

    value: torch.Tensor
    trained: bool = False
    made: tuple[Any, ...] | None = None
    # An array of NumPy's over the same values.
    array: bool = False

    def fresh(self) -> Any:
        """The tensor for one run, which may be written in place."""
        made = dense(self.value.detach()) if self.made is None else build(self)
        return made.numpy() if self.array else made.requires_grad_(self.trained)


@dataclass(frozen=True)
class Call:
    """One call: the function, its arguments with ``Ref`` for tensors, and the numbers of the tensors it gives."""

    function: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: tuple[int | None, ...]
    settings: Settings = Settings()

    def inputs(self) -> list[int]:
        return [x.number for x in tree_leaves((self.args, self.kwargs), is_leaf=is_ref) if isinstance(x, Ref)]

    def given(self, values: dict[int, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Its arguments, with the tensors of one run."""

        def of(x: Any) -> Any:
            return values[x.number] if isinstance(x, Ref) else x

        args, kwargs = tree_map(of, (self.args, self.kwargs), is_leaf=is_ref)
        return args, kwargs

    def keep(self, result: Any, values: dict[int, Any]) -> None:
        """Put the tensors of its result among those of the run."""
        for number, leaf in zip(self.outputs, tree_flatten(result)[0], strict=False):
            if number is not None and isinstance(leaf, torch.Tensor):
                values[number] = leaf

    def renamed(self, names: dict[int, int]) -> Call:
        """With other tensors in the place of some."""

        def other(x: Any) -> Any:
            return Ref(names[x.number]) if isinstance(x, Ref) and x.number in names else x

        args, kwargs = tree_map(other, (self.args, self.kwargs), is_leaf=is_ref)
        # A call that writes in place gives the tensor that it was given.
        mine = set(self.inputs())
        outputs = tuple(names.get(n, n) if n is not None and n in mine else n for n in self.outputs)
        return replace(self, args=args, kwargs=kwargs, outputs=outputs)


@dataclass(frozen=True)
class Program:
    """Leaves by number, and calls in order; the last call is the one that fails, or the backward of what does."""

    leaves: dict[int, Leaf]
    calls: tuple[Call, ...]

    def used(self) -> Program:
        """Without the leaves that no call uses before another one makes them."""
        wanted: set[int] = set()
        made: set[int | None] = set()
        for call in self.calls:
            wanted |= set(call.inputs()) - made
            made |= set(call.outputs)
        return replace(self, leaves={n: leaf for n, leaf in self.leaves.items() if n in wanted})

    def with_call(self, at: int, call: Call) -> Program:
        """With another call at one place."""
        return replace(self, calls=(*self.calls[:at], call, *self.calls[at + 1 :]))


@dataclass
class Running:
    """The tensors of one run, the call that it stands at, and the tensors that it is given."""

    values: dict[int, Any] = field(default_factory=dict)
    at: int = 0
    given: list[Any] = field(default_factory=list)


def draws(name: str) -> bool:
    """Whether a call of this name draws random numbers."""
    short = name.rpartition(".")[2]
    words = ("rand", "dropout", "multinomial", "bernoulli", "normal_", "uniform_", "poisson", "exponential_")
    return short.startswith(words) or short == "normal"


def is_ref(x: Any) -> bool:
    return isinstance(x, Ref)


def steps(program: Program, running: Running) -> Iterator[tuple[Call, Any]]:
    """Run call by call and give each with its result; whatever a call raises comes through."""
    running.values = {n: leaf.fresh() for n, leaf in program.leaves.items()}
    for running.at, call in enumerate(program.calls):
        args, kwargs = call.given(running.values)
        running.given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        with call.settings.entered():
            result = call.function(*args, **kwargs)
        call.keep(result, running.values)
        yield call, result


def build(leaf: Leaf) -> torch.Tensor:
    """The tensor that a leaf's expression makes; random ones draw from the global generator."""
    assert leaf.made is not None
    kind, *rest = leaf.made
    like = leaf.value
    order = order_of(like)
    if order != tuple(sorted(order)):
        plain = build(replace(leaf, value=like.permute(order)))
        return plain.permute(inverse(order))
    shape, options = tuple(like.shape), {"dtype": like.dtype, "device": like.device}
    if kind == "randn":
        return torch.randn(shape, **options)
    if kind == "rand":
        return torch.rand(shape, **options)
    if kind == "randint":
        return torch.randint(rest[0], shape, **options)
    if kind == "arange":
        return torch.arange(like.numel(), **options).view(shape)
    return torch.full(shape, rest[0], **options)


def order_of(x: torch.Tensor) -> tuple[int, ...]:
    """The dimensions as they lie in memory, from the slowest to the fastest; ascending for what is contiguous."""
    if x.is_contiguous() or x.layout is not torch.strided:
        return tuple(range(x.dim()))
    return tuple(sorted(range(x.dim()), key=lambda dim: -x.stride(dim)))


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order.index(dim) for dim in range(len(order)))


def dense(x: torch.Tensor) -> torch.Tensor:
    """A copy without gaps in memory, with its dimensions in the same order."""
    if x.layout is not torch.strided:
        return x.clone()
    order = order_of(x)
    return x.permute(order).clone(memory_format=torch.contiguous_format).permute(inverse(order))
