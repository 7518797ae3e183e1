"""A failure in one of two hundred unseeded batches is explained from what was kept of it, and set apart from the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import firstcause

pytestmark = pytest.mark.slow

PROGRAM = """\
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Counts(Dataset):
    def __init__(self):
        torch.seed()
        self.rows = torch.rand(1600, 12) + 0.1
        self.rows[random.SystemRandom().randrange(400, 1600)] = 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, number):
        return self.rows[number]


net = nn.Linear(12, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for x in DataLoader(Counts(), 8):
    share = x / x.sum(1, keepdim=True)
    loss = net(share).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_rare_failure_is_explained_from_its_capture(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    firstcause(tmp_path, "run", "-q", "python", "train.py")
    # Another run would fail elsewhere or not at all: nothing is agreed to be run again.
    told = firstcause(tmp_path, "diagnose", "last")
    assert "division-by-zero at train.py:23" in told.stdout
    again = firstcause(tmp_path, "replay", "last", "--against", "40")
    assert "replayed exactly in a fresh process" in again.stdout
    apart = again.stdout.partition("40 other steps were not:")[2]
    assert "x: least value 0; elsewhere 0.1" in apart, again.stdout
