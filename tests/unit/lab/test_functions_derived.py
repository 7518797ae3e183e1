"""The program's own functions are met as they are applied, and derived at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.autograd import Function

from firstcause.lab.audit.functions_derived import Watch
from firstcause.lab.counterfactual import Ran
from firstcause.lab.derivatives import by_layout
from firstcause.specialists.custom_autograd_functions import wrong_backward_formula as cause


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: float) -> Any:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return scale * x**3

    @staticmethod
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return given * ctx.scale * 3 * x, None


class OnlyInFloat32(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        if x.dtype is not torch.float32:
            raise TypeError("float32 alone")
        return 2 * x

    @staticmethod
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        return 3 * given


@pytest.fixture
def watch() -> Iterator[Watch]:
    before = Function.__dict__["apply"]
    made = Watch({}, None)  # type: ignore[arg-type]
    made.start()
    yield made
    Function.apply = before


def test_a_wrong_formula_is_told_with_both_derivatives(watch: Watch) -> None:
    x = torch.linspace(0.5, 2, 10, requires_grad=True)
    Cube.apply(x, 0.5).sum().backward()
    (one,) = watch.facts()["derived"]
    assert (one["class"], one["verdict"], one["input"]) == ("Cube", "wrong", 0)
    text = cause.seen(Ran("audit", "steps", facts=watch.facts()), None)  # type: ignore[arg-type]
    assert text is not None
    assert text.startswith("Cube.backward gives ")


def test_what_cannot_be_tried_in_float64_is_not_accused(watch: Watch) -> None:
    OnlyInFloat32.apply(torch.ones(4, requires_grad=True)).sum().backward()
    (one,) = watch.facts()["derived"]
    assert one["verdict"] == "unknown"
    assert "float32 alone" in one["why"]


def test_a_function_that_never_ran_with_a_gradient_is_not_looked_at(watch: Watch) -> None:
    with torch.no_grad():
        Cube.apply(torch.ones(4), 1.0)
    assert watch.facts()["derived"] == []


class ByMemory(torch.autograd.Function):
    """Takes the elements of its gradient as they lie in memory."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return 2 * torch.as_strided(gradient, (gradient.numel(),), (1,), 0).view(gradient.shape)


class ByShape(ByMemory):
    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return 2 * gradient.reshape(-1).view(gradient.shape)


@pytest.mark.parametrize(("function", "is_apart"), [(ByMemory, True), (ByShape, False)])
def test_a_backward_that_takes_memory_for_shape_gives_another_gradient(function: Any, is_apart: bool) -> None:
    pairs = by_layout(function, [torch.randn(3, 4, requires_grad=True)], {}, 0)
    assert bool(pairs) == is_apart


class Flat(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return given * 3 * x.detach() ** 2


@pytest.mark.parametrize("twice", [False, True])
def test_a_second_derivative_is_looked_at_where_the_program_takes_one(watch: Watch, twice: bool) -> None:
    x = torch.linspace(0.5, 2, 10, requires_grad=True)
    (slope,) = torch.autograd.grad((Flat.apply(x * 2) * x).sum(), x, create_graph=twice)
    if twice:
        slope.square().sum().backward()
    wrong = [d for d in watch.facts()["derived"] if d["verdict"] == "wrong"]
    assert [d.get("order") for d in wrong] == ([2] if twice else [])
    text = cause.seen(Ran("audit", "steps", facts=watch.facts()), None)  # type: ignore[arg-type]
    assert (text or "").startswith("the derivative of Flat.backward is 0 ") is twice


class Spoils(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor) -> Any:
        ctx.save_for_backward(x)
        ctx.w = w
        return x * w

    @staticmethod
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return ctx.w.data.mul_(2).div(2) * given, given * x


@pytest.mark.parametrize("lasts", [True, False])
def test_a_weight_that_backward_changes_is_told_where_the_program_keeps_it(watch: Watch, lasts: bool) -> None:
    x = torch.linspace(0.5, 2, 10, requires_grad=True)
    w = torch.linspace(1, 3, 10, requires_grad=True)
    Spoils.apply(x * 1, w if lasts else w * 1).sum().backward()
    text = cause.seen(Ran("audit", "steps", facts=watch.facts()), None)  # type: ignore[arg-type]
    assert (text is not None) is lasts
    assert not lasts or "changes the values of input 1" in str(text)
