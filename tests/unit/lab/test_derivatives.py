"""Custom functions of the kinds that people write, right and wrong, against their own forward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.autograd import Function

from firstcause.lab.derivatives import compared


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
