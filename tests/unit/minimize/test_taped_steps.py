"""Whole steps from tape to script: blocks and Functions that backward enters, freed graphs, arrays, luck, deep models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
import torch.nn.functional as F
from taping import ends_of, facts_of, lines_of
from torch.utils.checkpoint import checkpoint

from firstcause.minimize import made_small


class Flattened(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return (grad.view(-1) * ctx.factor).view(grad.shape), None


class OneTooFew(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        return grad * ctx.saved_tensors[1]


def test_function_whose_backward_refuses_keeps_its_backward(tmp_path: Path) -> None:
    layer, x, y = torch.nn.Linear(8, 8), torch.randn(4, 8), torch.randn(8, 4)
    facts = facts_of(lambda: (Flattened.apply(layer(x), 2.0).t() * y).sum().backward())
    assert ends_of(facts, tmp_path)[1].startswith("view size is not compatible")
    assert any("autograd.Function" in line for line in lines_of(facts))
    assert len(lines_of(facts)) <= 20


@pytest.mark.slow
def test_function_that_returns_too_few_gradients_keeps_their_number(tmp_path: Path) -> None:
    layer, x = torch.nn.Linear(8, 8), torch.randn(4, 8)
    facts = facts_of(lambda: OneTooFew.apply(layer(x).tanh(), layer(x)).relu().mean().backward())
    assert "OneTooFewBackward returned an incorrect number of gradients" in ends_of(facts, tmp_path)[2]
    assert len(lines_of(facts)) <= 20


def test_block_that_recomputes_otherwise_keeps_both_runs(tmp_path: Path) -> None:
    layers = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(6))
    times: list[int] = []

    def block(layer: Any, x: torch.Tensor) -> torch.Tensor:
        times.append(1)
        return x if len(times) % 7 == 3 else x + torch.tanh(layer(x))

    def step() -> None:
        x = torch.randn(4, 8, requires_grad=True)
        for layer in layers:
            x = checkpoint(block, layer, x, use_reentrant=False)
        x.sum().backward()

    facts = facts_of(step)
    kind, said, _ = ends_of(facts, tmp_path)
    assert kind == "CheckpointError"
    assert "different number of tensors was saved" in said
    assert len(lines_of(facts)) <= 20


def test_graph_that_was_freed_keeps_the_backward_that_freed_it(tmp_path: Path) -> None:
    gates = torch.randn(5, requires_grad=True)

    def step() -> None:
        weights = torch.sigmoid(gates) * 2
        for _ in range(2):
            (weights * torch.randn(5)).sum().backward()

    facts = facts_of(step)
    assert "backward through the graph a second time" in ends_of(facts, tmp_path)[1]
    assert len(lines_of(facts)) <= 8


def test_array_that_does_not_fit_is_one_assignment(tmp_path: Path) -> None:
    slots, rows = numpy.zeros(100), numpy.arange(32)

    def step() -> None:
        errors = torch.randn(32, 32).numpy()
        slots[rows] = numpy.abs(errors) + 1e-6

    facts = facts_of(step)
    assert ends_of(facts, tmp_path)[:2] == ("ValueError", facts["failure"]["said"])
    assert len(lines_of(facts)) <= 5


def test_exception_that_the_step_caught_is_not_its_failure(tmp_path: Path) -> None:
    def step() -> None:
        try:
            torch.randn(3) @ torch.randn(4)
        except RuntimeError:
            torch.randn(2).view(3)

    facts = facts_of(step)
    assert "is invalid for input of size" in ends_of(facts, tmp_path)[2]
    assert facts["failure"]["call"] == "torch.Tensor.view"


def test_first_bad_value_that_the_loss_is_not_made_of_is_not_the_failure(tmp_path: Path) -> None:
    weight = torch.ones(3, requires_grad=True)

    def step() -> None:
        shown = torch.zeros(3).log()
        loss = (weight * 0).sqrt().sum() * 2 + torch.exp(weight * 200).sum()
        assert shown.isinf().all()
        loss.backward()

    facts = facts_of(step)
    assert facts["failure"]["call"] == "torch.exp"
    assert "exp" in "\n".join(lines_of(facts))


def test_luck_is_told_and_replaced_by_what_was_drawn(tmp_path: Path) -> None:
    for seed in range(50):
        torch.manual_seed(seed)
        facts = facts_of(lambda: torch.zeros(4)[torch.randint(0, 6, (1,))])
        if facts.get("failure"):
            break
    before, after, of = facts["rates"]
    assert 0 < before < of
    assert after == of
    assert ends_of(facts, tmp_path)[0] == "IndexError"


def test_what_fails_with_no_other_numbers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # The draw is hidden from the tape: made again, it is another one.
    monkeypatch.setattr(made_small, "_with_draws", lambda program, drawn: program)
    for seed in range(50):
        torch.manual_seed(seed)
        facts = facts_of(lambda: torch.zeros(4)[torch.randint(0, 6, (1,))])
        if facts.get("failure"):
            break
    assert "of 10 seeds" in facts["why"]
    assert "scripts" not in facts


class Attention(torch.nn.Module):
    def __init__(self, broken: bool) -> None:
        super().__init__()
        self.mix, self.out, self.norm = (
            torch.nn.Linear(32, 96),
            torch.nn.Linear(32, 32),
            torch.nn.LayerNorm(32),
        )
        self.broken = broken

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.mix(self.norm(x)).chunk(3, dim=-1)
        scores = q @ k.transpose(-1, -2) / 32**0.5
        if self.broken:
            scores = scores + torch.zeros(x.shape[1] + 1, x.shape[1] + 1)
        return x + self.out(scores.softmax(-1) @ v)


@pytest.mark.slow
def test_fault_deep_in_fifty_layers_under_autocast_is_a_few_plain_lines(tmp_path: Path) -> None:
    torch.manual_seed(0)
    layers = torch.nn.Sequential(*[Attention(n == 44) for n in range(50)])
    head = torch.nn.Linear(32, 7)

    def step() -> None:
        x = torch.randn(2, 12, 32)
        x = torch.where(torch.rand(2, 12, 1) < 0.1, torch.zeros(()), x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = head(layers(x))
        loss = F.cross_entropy(y.flatten(0, 1), torch.randint(0, 7, (24,))) + y.pow(2).mean() * 0.1
        loss.backward()

    facts = facts_of(step)
    assert "must match the size of tensor b" in ends_of(facts, tmp_path)[2]
    assert len(lines_of(facts)) <= 5
    assert "autocast" not in "\n".join(lines_of(facts))
    assert facts["calls"] > 400
    assert any("autocast" in line for line in facts["dropped"])
