"""Custom functions of the kinds that people write, right and wrong, against their own forward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.autograd import Function

from firstcause.lab.derivatives import compared, second, written


def made(forward: Any, backward: Any) -> type[Function]:
    """A Function of one input from two formulas."""

    class Made(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, given: torch.Tensor) -> Any:
            return backward(given, *ctx.saved_tensors)

    return Made


def sigmoid_slope(x: torch.Tensor) -> torch.Tensor:
    s = torch.sigmoid(x)
    return s * (1 + x * (1 - s))


CASES = [
    ("right", lambda x: x * torch.sigmoid(x), lambda g, x: g * sigmoid_slope(x), "agrees"),
    ("sign inside", lambda x: x * torch.sigmoid(x), lambda g, x: g * (2 * torch.sigmoid(x) - sigmoid_slope(x)), "wrong"),
    ("factor of a square", lambda x: x * x, lambda g, x: g * x, "wrong"),
    ("sum over rows left out", lambda x: x.sum(0), lambda g, x: (g * x).expand_as(x), "wrong"),
    ("straight through", torch.round, lambda g, x: g, "surrogate"),
    ("straight through a clamp", lambda x: x.clamp(-0.5, 0.5), lambda g, x: g, "surrogate"),
    ("spike", lambda x: (x > 0).to(x.dtype), lambda g, x: g / (1 + x.abs()) ** 2, "surrogate"),
    ("reversal", lambda x: x.view_as(x), lambda g, x: -0.3 * g, "scaled"),
    ("cut off where it is large", torch.exp, lambda g, x: g * x.exp() * (x < 0.5), "surrogate"),
    ("in place of a kink", torch.relu, lambda g, x: g * (x > 0), "agrees"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("forward", "backward", "verdict"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_a_backward_is_told_right_wrong_or_meant(forward: Any, backward: Any, verdict: str) -> None:
    torch.manual_seed(0)
    x = torch.randn(12, 6, requires_grad=True)
    (one,) = compared(made(forward, backward), [x], {})
    assert one.verdict == verdict


def test_a_large_input_is_cut_to_some_rows() -> None:
    x = torch.randn(4000, 40, requires_grad=True)
    (one,) = compared(made(lambda x: x.sin(), lambda g, x: g * x.cos()), [x], {})
    assert one.verdict == "agrees"


def two(backward: Any) -> type[Function]:
    class Product(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor) -> Any:
            ctx.save_for_backward(x)
            ctx.w = w
            return x * w

        @staticmethod
        def backward(ctx: Any, given: torch.Tensor) -> Any:
            return backward(given, *ctx.saved_tensors, ctx.w)

    return Product


FORMS = [
    (lambda g, x, w: (g * x, g * w), ["that of input 1", "that of input 0"]),
    (lambda g, x, w: (-g * w, g * x), ["right but for its sign", ""]),
    (lambda g, x, w: (g * w, 3 * g * x), ["", "3 times the right one"]),
    (lambda g, x, w: (g * w.abs(), g * x), ["right but for the sign of some elements", ""]),
    (lambda g, x, w: (g * w, g * x * x), ["", ""]),
]


@pytest.mark.parametrize(("backward", "forms"), FORMS)
def test_what_makes_a_wrong_one_of_the_right_one_is_told(backward: Any, forms: list[str]) -> None:
    torch.manual_seed(0)
    given = [torch.randn(6, 5, requires_grad=True) for _ in range(2)]
    assert [c.form for c in compared(two(backward), given, {})] == forms


def test_a_quantised_layer_approximates_all_of_its_inputs_on_purpose() -> None:
    class Coarse(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, w: torch.Tensor) -> Any:
            ctx.save_for_backward(x, w)
            return x @ torch.round(w * 8)

        @staticmethod
        def backward(ctx: Any, given: torch.Tensor) -> Any:
            x, w = ctx.saved_tensors
            return given @ w.t() * 8, x.t() @ given * 8

    torch.manual_seed(0)
    given = [torch.randn(6, 5, requires_grad=True), torch.randn(5, 4, requires_grad=True)]
    assert {c.verdict for c in compared(Coarse, given, {})} == {"surrogate"}


def test_a_weight_that_backward_writes_into_is_told_beside_a_right_derivative() -> None:
    def backward(g: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> Any:
        return w.data.mul_(0.5) * 2 * g, g * x

    torch.manual_seed(0)
    given = [torch.randn(6, 5, requires_grad=True) for _ in range(2)]
    found = compared(two(backward), given, {})
    assert [c.verdict for c in found] == ["agrees", "agrees"]
    changed = written(two(backward), given, {})
    assert list(changed) == [1]
    before, after = changed[1][0]
    assert after == pytest.approx(before / 2)
    assert written(two(lambda g, x, w: (g * w, g * x)), given, {}) == {}


def test_a_second_derivative_is_held_against_differences_of_the_first() -> None:
    torch.manual_seed(0)
    x = torch.randn(6, 5, requires_grad=True)
    right = made(lambda x: x**3, lambda g, x: 3 * g * x**2)
    cut = made(lambda x: x**3, lambda g, x: 3 * g * x.detach() ** 2)
    assert second(right, [x], {}, 0) == []
    pairs = second(cut, [x], {}, 0)
    assert pairs
    assert {given for _, given in pairs} == {0.0}
