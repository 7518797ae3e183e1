"""A tape of a whole program that is begun anew in the middle of it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from firstcause.minimize import whole
from firstcause.minimize.assembled import assembled, failed
from firstcause.minimize.regions import regions


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2


def test_what_was_entered_before_is_no_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "MOST_CALLS", 12)
    x = torch.ones(3, requires_grad=True)
    tape, error = whole.WholeTape({}, -1), None
    with tape:
        early = checkpoint(torch.sin, Doubled.apply(x), use_reentrant=False).sum()
        for _ in range(12):
            torch.ones(1).add(1)
        # Its Function and its block belong to numbers that now stand for other tensors.
        early.backward()
        loss = (x * x).sum()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError as raised:
            error = raised
    found = failed(tape, [x], error)
    assert found is not None
    program, failure = assembled(tape, found)
    assert failure.what == "RuntimeError"
    assert not regions(program)
