"""Views that give axes another order, told from those that split, merge or stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from watched import Step, watch

from firstcause.lab.audit.axes_swapped import Views, laid_out
from firstcause.lab.layouts import order_of

SWAPPED = [
    ((8, 6, 12), (8, 3, 6, 4), ("after", (0, 2, 1, 3))),
    ((8, 3, 6, 4), (8, 6, 12), ("before", (0, 2, 1, 3))),
    ((6, 8, 4), (8, 6, 4), ("after", (1, 0, 2))),
    ((8, 28, 28, 3), (8, 3, 28, 28), ("after", (0, 2, 3, 1))),
    ((8, 64, 7, 7), (8, 49, 64), ("before", (0, 2, 3, 1))),
]
KEPT = [
    ((8, 6, 12), (8, 6, 3, 4)),
    ((8, 4, 6), (32, 6)),
    ((8, 10, 40), (8, 5, 80)),
    ((480,), (8, 60)),
    ((8, 64, 7, 7), (8, 64, 49)),
    ((16, 16), (8, 32)),
    ((8, 1, 6), (8, 6, 1)),
]


@pytest.mark.parametrize(("before", "after", "order"), SWAPPED)
def test_axes_that_change_places_are_seen_and_can_be_moved_with_their_elements(before, after, order) -> None:
    assert order_of(before, after) == order
    x = torch.arange(torch.Size(before).numel()).view(before)
    moved = laid_out(x, after, order)
    assert tuple(moved.shape) == after
    assert not torch.equal(moved, x.view(after))


@pytest.mark.parametrize(("before", "after"), KEPT)
def test_splits_merges_and_stacked_frames_are_meant(before, after) -> None:
    assert order_of(before, after) is None


def test_a_view_at_a_line_that_is_put_right_gives_the_transpose() -> None:
    def heads(x: torch.Tensor) -> torch.Tensor:
        return x.view(2, 3, 6, 4)

    x = torch.randn(2, 6, 12, requires_grad=True)
    with Views() as views:
        heads(x)
    (key,) = views.seen
    with Views(frozenset({key})):
        assert torch.equal(heads(x)[:, 1], x[:, :, 4:8])


def crossings(way: Callable[[nn.Module, torch.Tensor], torch.Tensor]) -> list[dict[str, Any]]:
    def train(step: Step) -> None:
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(2):
            step(way(net, torch.randn(16, 2, 6)).pow(2).mean(), optimizer)

    return [s for s in watch("axes_swapped", train)[0]["swapped"] if s["trained"]]


@pytest.mark.parametrize(
    "way",
    [
        lambda net, x: net(x.flatten(0, 1)).view(2, 16, -1)[0],
        lambda net, x: F.normalize(net(x.reshape(-1, 6)) / 2, dim=1).reshape(2, 16, 4)[0],
        lambda net, x: net(x.transpose(0, 1).reshape(32, 6)).view(16, 2, 2, 2)[:, 0],
        lambda net, x: net(x.flatten(0, 1)).unflatten(0, (2, 16))[0],
        lambda net, x: net(x.flatten(0, 1)[:, :6])[:, 1:].mean(1).view(2, 16),
        lambda net, x: net(x.flatten(0, 1)).chunk(2)[0],
        lambda net, x: torch.split(net(x.reshape(-1, 6)), 16)[0],
    ],
)
def test_rows_that_are_taken_apart_in_another_order_than_they_were_put_together_are_seen(way) -> None:
    (found,) = crossings(way)

    assert sorted(found["merged"]) == [2, 16]
    assert found["after"][:2] == found["merged"][::-1]
    assert (found["which"], found["order"][:2]) == ("after", [1, 0])
    x = torch.arange(torch.Size(found["before"]).numel()).view(found["before"])
    moved = laid_out(x, tuple(found["after"]), ("after", tuple(found["order"])))
    assert torch.equal(moved[1, 0], x.view(*found["merged"], *found["after"][2:])[0, 1])


@pytest.mark.parametrize(
    "way",
    [
        lambda net, x: net(x.flatten(0, 1)).view(16, 2, -1).transpose(0, 1)[0],
        lambda net, x: net(torch.cat([x[:, 0], x[:, 1]])).view(2, 16, -1)[0],
        lambda net, x: net(x.transpose(0, 1).reshape(32, 6)).view(2, 16, -1)[0],
        # Put into another order by the program itself.
        lambda net, x: net(x.flatten(0, 1))[torch.arange(32).view(16, 2).t().reshape(-1)].view(2, 16, -1)[0],
        # Channels that are shuffled in groups.
        lambda net, x: net(x.flatten(0, 1)).view(32, 2, 2).transpose(1, 2).reshape(32, 4).view(32, 2, 2),
        lambda net, x: net(x[:, 0]).view(4, 4, 4),
        lambda net, x: torch.cat(net(x.flatten(0, 1)).chunk(4)),
        lambda net, x: net(x.flatten(0, 1)).chunk(2, dim=1)[0],
        lambda net, x: net(torch.cat([x[:, 0], x[:, 1]])).chunk(2)[0],
    ],
)
def test_rows_in_their_own_order_or_in_one_made_for_them_are_meant(way) -> None:
    assert not crossings(way)


def test_rows_of_equal_axes_tell_nothing_of_their_order() -> None:
    def train(step: Step) -> None:
        net = nn.Linear(6, 4)
        step(
            net(torch.randn(4, 4, 6).flatten(0, 1)).view(4, 4, 4).mean(),
            torch.optim.SGD(net.parameters(), 0.1),
        )

    assert not watch("axes_swapped", train)[0]["swapped"]
