"""What is to begin another way, in a program that makes its model and data after the arm was forked."""

from __future__ import annotations

import torch
from torch import nn

from firstcause.lab import starts
from firstcause.lab.first_forward import at_first_forward


def test_it_acts_once_as_the_next_module_begins() -> None:
    acted: list[int] = []
    net = nn.Linear(2, 2)
    at_first_forward(lambda: acted.append(len(acted)))
    assert acted == []
    net(torch.ones(1, 2))
    net(torch.ones(1, 2))
    assert acted == [0]


def test_a_model_made_after_the_fork_begins_anew_at_its_first_forward_alone() -> None:
    start = starts.Start({"start": "default"})
    net = nn.Linear(8, 8)
    nn.init.constant_(net.weight, -3.0)
    net(torch.ones(1, 8))
    assert starts.is_default(net)
    assert start.facts()["differing"] == start.facts()["begun_anew"] >= 1
    nn.init.constant_(net.weight, -3.0)
    net(torch.ones(1, 8))
    assert not starts.is_default(net)
