"""Trainings that fail without a word: the smallest program breaks the same invariant, and a healthy one breaks none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from taping import ends_of, facts_of, lines_of

from firstcause.minimize.made_small import INVARIANT


class Swish(torch.autograd.Function):
    SIGN = -1

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, rate: float) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.rate = rate
        return x * torch.sigmoid(rate * x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(ctx.rate * x)
        return grad * (s + Swish.SIGN * ctx.rate * x * s * (1 - s)), None


def stretched(wrong: bool) -> None:
    head = torch.nn.Linear(6, 1)
    predicted, wanted = head(torch.randn(16, 6)), torch.randn(16)
    F.smooth_l1_loss(predicted if wrong else predicted.squeeze(1), wanted).backward()


def normalised(wrong: bool) -> None:
    x = torch.nn.Linear(6, 5)(torch.randn(16, 6))
    F.cross_entropy(x.softmax(-1) if wrong else x, torch.randint(0, 5, (16,))).backward()


def unreached(wrong: bool) -> None:
    encoder, head = torch.nn.Linear(6, 6), torch.nn.Linear(6, 1)
    with torch.set_grad_enabled(not wrong):
        hidden = encoder(torch.randn(16, 6)).relu()
    head(hidden).pow(2).mean().backward()


def silenced(wrong: bool) -> None:
    layer = torch.nn.Linear(6, 6)
    torch.nn.init.constant_(layer.weight, -0.02 if wrong else 0.02)
    torch.nn.init.constant_(layer.bias, -0.02)
    F.relu(layer(torch.rand(16, 6) + 1)).mean().backward()


def underived(wrong: bool) -> None:
    Swish.SIGN = -1 if wrong else 1
    Swish.apply(torch.nn.Linear(6, 6)(torch.randn(4, 6)), 1.5).mean().backward()


def underived_at_large(wrong: bool) -> None:
    Swish.SIGN = -1 if wrong else 1
    Swish.apply(torch.nn.Linear(6, 96)(torch.randn(128, 6)), 1.5).mean().backward()


STEPS = [
    ("shapes", stretched, 7),
    ("logits", normalised, 8),
    pytest.param("reached", unreached, 12, marks=pytest.mark.slow),
    pytest.param("alive", silenced, 10, marks=pytest.mark.slow),
    pytest.param("derived", underived, 16, marks=pytest.mark.slow),
    ("derived", underived_at_large, 16),
]


@pytest.mark.parametrize(("invariant", "step", "most"), STEPS)
def test_what_is_broken_stays_broken_in_a_few_lines(
    invariant: str, step: Any, most: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(INVARIANT, invariant)
    torch.manual_seed(0)
    facts = facts_of(lambda: step(True))
    loud = "GradcheckError" if invariant == "derived" else "AssertionError"
    assert ends_of(facts, tmp_path)[0] == loud
    assert len(lines_of(facts)) <= most
    if invariant == "derived":
        # What is wrong is the formula, which a shorter one would not show.
        text = "\n".join(lines_of(facts))
        assert text.count("torch.sigmoid(x * 1.5)") == 2
        assert "1 - " in text


@pytest.mark.parametrize(("invariant", "step", "most"), STEPS)
def test_healthy_step_breaks_nothing(
    invariant: str, step: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(INVARIANT, invariant)
    torch.manual_seed(0)
    facts = facts_of(lambda: step(False))
    assert "break nothing" in facts["why"]
