"""A module at several places that does the same work again, and one whose places differ in what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from started import Start, train
from torch import nn


class Net(nn.Module):
    def __init__(self, way: Callable[[nn.ModuleList, torch.Tensor], torch.Tensor], block: nn.Module) -> None:
        super().__init__()
        self.way, self.blocks = way, nn.ModuleList([block] * 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.way(self.blocks, x)


def deep(blocks: nn.ModuleList, x: torch.Tensor) -> torch.Tensor:
    for block in blocks:
        x = x + block(x)
    return x


def beside(blocks: nn.ModuleList, x: torch.Tensor) -> torch.Tensor:
    return torch.cat([block(x) for block in blocks], 1)


def counted(start: Start, way: Any, block: nn.Module) -> tuple[int, int]:
    net = Net(way, block)
    look = start("audit.parameters_held")
    train(look, net, torch.optim.SGD(net.parameters(), 0.01), "clear", "backward", "step", steps=4)
    (one,) = look.facts()["shared"]
    assert "id" not in one
    return one["runs"], one["same"]


def test_places_beside_each_other_with_one_input_do_the_same_work_again(start: Start) -> None:
    assert counted(start, beside, nn.Linear(4, 4)) == (12, 8)


@pytest.mark.parametrize(
    ("way", "block"),
    [
        (deep, nn.Linear(4, 4)),
        (lambda blocks, x: torch.cat([b(x * (n + 1)) for n, b in enumerate(blocks)], 1), nn.Linear(4, 4)),
        (lambda blocks, x: blocks[0](x) + blocks[1](x.roll(1, 0)), nn.Linear(4, 4)),
        (beside, nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 4))),
    ],
    ids=["in depth", "of other scales", "siamese", "dropped out each for itself"],
)
def test_places_that_are_given_or_give_other_values_do_work_of_their_own(
    start: Start, way: Any, block: nn.Module
) -> None:
    assert counted(start, way, block)[1] == 0
