"""Sums, best values, terms and averages of a loss, and those that are meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from watched import Step, adam, watch


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize(("way", "whole"), [("sum", 2), ("by-hand", 2), ("divided", 0), ("mean", None)])
def test_a_sum_over_the_batch_is_seen_where_its_gradient_is_not_divided(way: str, whole: int | None) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 1)
        optimizer = adam(net)
        for _ in range(2):
            out, y = net(torch.randn(32, 4)), torch.randn(32, 1)
            loss = {
                "sum": lambda out, y: F.mse_loss(out, y, reduction="sum"),
                "by-hand": lambda out, y: ((out - y) ** 2).sum(),
                "divided": lambda out, y: ((out - y) ** 2).sum() / 32,
                "mean": lambda out, y: ((out - y) ** 2).sum(1).mean(),
            }[way](out, y)
            step(loss, optimizer)

    found = watch("sums_in_loss", train)[0]["summed"]
    assert [f["whole"] for f in found] == ([] if whole is None else [whole])
    assert all(f["count"] == 32 for f in found)


@pytest.mark.parametrize(
    ("way", "seen"),
    [
        (lambda error: error.min(dim=0).values.mean(), True),
        (lambda error: torch.amin(error, 0).mean(), True),
        (lambda error: error.min(-2)[0].mean(), True),
        (lambda error: error.min(dim=1).values.mean(), False),
        (lambda error: error.min(), False),
        (lambda error: error[:3].amin(0).mean(), False),
        (lambda error: (error @ error.t()).amin(0).mean(), False),
    ],
)
def test_a_best_value_of_the_batch_is_seen(way: Callable[[torch.Tensor], torch.Tensor], seen: bool) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 6)
        optimizer = adam(net)
        for _ in range(2):
            step(way(net(torch.randn(32, 4)).square()), optimizer)

    facts, rows = watch("extremes_of_batch", train)
    assert [e["of_batch"] for e in facts["extremes"]] == ([2] if seen else [])
    if seen:
        (one,) = facts["extremes"]
        assert (one["shape"], one["lowered"], one["used"]) == ([32, 6], 2, 2)
        assert one["reached"] <= 6 / 32
        assert all(row["nearest"] > 0 for row in rows)


def test_the_gradient_of_each_term_is_taken_on_the_weights_that_they_share() -> None:
    def train(step: Step) -> None:
        trunk, one, two = nn.Linear(3, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        optimizer = torch.optim.SGD([*trunk.parameters(), *one.parameters(), *two.parameters()], 1e-9)
        for _ in range(2):
            x = torch.randn(16, 3)
            h = trunk(x)
            step(F.mse_loss(one(h), 1000 * x[:, :1]) + 0.5 * F.mse_loss(two(h), x[:, :1]), optimizer)

    facts, rows = watch("terms_of_loss", train)
    assert all(large > 100 * small > 0 for large, small in facts["term_norms"])
    assert [t["weight"] for t in facts["terms"]] == [1.0, 0.5]
    assert set(rows[0]) == {"term 0", "term 1"}


@pytest.mark.parametrize(
    ("way", "power"),
    [
        (F.mse_loss, 2),
        (nn.L1Loss(), 1),
        (lambda out, y: 3 * ((out - y) ** 2).mean(), 2),
        (lambda out, y: torch.mean(torch.abs(y - out)), 1),
        (lambda out, y: (out - y).mean().abs() * out.mean(), None),
        (lambda out, y: F.smooth_l1_loss(out, y), None),
    ],
)
def test_the_targets_of_a_term_that_is_an_error_are_known(way: Callable[..., Any], power: int | None) -> None:
    def train(step: Step) -> None:
        trunk, one, two = nn.Linear(3, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        optimizer = torch.optim.SGD([*trunk.parameters(), *one.parameters(), *two.parameters()], 1e-9)
        for _ in range(20):
            x = torch.randn(64, 3)
            h = trunk(x)
            step(way(one(h), 500 + 40 * x[:, :1]) + two(h).sigmoid().mean(), optimizer)

    facts, rows = watch("terms_of_loss", train)
    error = facts["terms"][0]["error"]
    assert facts["terms"][1]["error"] is None
    if power is None:
        assert error is None
        return
    assert (error["power"], round(error["mean"], -1)) == (power, 500)
    assert 36 < error["spread"] < 44

    torch.manual_seed(0)
    _, others = watch("terms_of_loss", train, {"standardised": [0, error]})
    # In the unit that it was in, and of a target near 0.
    assert 0 < others[0]["term 0"] < 0.1 * rows[0]["term 0"]


@pytest.mark.parametrize(
    ("way", "whole"),
    [
        (lambda out, y: (out - y).mean(dim=1).pow(2).mean(), 2),
        (lambda out, y: torch.mean(y - out, 0).abs().sum(), 2),
        (lambda out, y: (out - y).mean(1).square().mean() + F.mse_loss(out, y), 0),
        (lambda out, y: (out - y).pow(2).mean(1).mean(), None),
        (lambda out, y: (out - out.mean(0)).mean(1).pow(2).mean(), None),
        # One target for all that is averaged: of an ensemble, or of a bag.
        (lambda out, y: (out - y[:, :1].expand(32, 6)).mean(1).pow(2).mean(), None),
    ],
)
def test_errors_that_cancel_before_their_size_is_taken_are_seen(
    way: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], whole: int | None
) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 6)
        optimizer = adam(net)
        for _ in range(2):
            step(way(net(torch.randn(32, 4)), torch.randn(32, 6)), optimizer)

    facts, rows = watch("errors_averaged", train)
    assert [a["whole_loss"] for a in facts["averaged"]] == ([] if whole is None else [whole])
    assert all(("apart" in row) == (whole is not None) for row in rows)
