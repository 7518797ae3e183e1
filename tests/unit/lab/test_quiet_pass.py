"""A pass of the program's own model that its training does not feel."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from torch import nn

from firstcause.lab.quiet_pass import quiet, unchanged


class Drawing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls, self.last = 0, torch.zeros(2)
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.last = x
        self.seen = True
        return self.norm(x) * random.random() * np.random.rand() * torch.rand(1)


def draws() -> list[Any]:
    return [random.random(), float(np.random.rand()), float(torch.rand(1))]


def test_random_numbers_buffers_and_attributes_are_as_before() -> None:
    module, x = Drawing(), torch.randn(8, 2)
    for around in (quiet, unchanged):
        for seed in (random.seed, np.random.seed, torch.manual_seed):
            seed(0)
        expected = draws()
        for seed in (random.seed, np.random.seed, torch.manual_seed):
            seed(0)
        last = module.last

        with around(module):
            module(x)

        assert draws() == expected
        assert (module.calls, module.last is last, hasattr(module, "seen")) == (0, True, False)
        assert module.training
        assert int(module.norm.num_batches_tracked) == 0


def test_modes_are_put_back_after_a_pass_that_fails() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    module[1].eval()
    try:
        with quiet(module):
            module(torch.zeros(1, 3))
    except RuntimeError:
        assert (module.training, module[0].training, module[1].training) == (True, True, False)
    else:
        raise AssertionError("the pass did not fail")
