"""A failure is carried by the component without which it is gone, and by none that the program does not use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recording import firstcause

pytestmark = pytest.mark.slow

OVERFLOW = """\
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-12)
rows = [torch.randn(16) * SCALE for _ in range(24)]
for x in torch.utils.data.DataLoader(rows, 4, num_workers=1):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = net(x).float().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_what_carries_an_overflow_is_found_among_two_components(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OVERFLOW.replace("SCALE", "40000"))
    done = firstcause(tmp_path, "bisect", "--json", "found.json", "python", "train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["used"] == ["autocast", "workers"]
    assert found["carriers"] == ["autocast"]
    assert "carried by autocast" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["found.json", "train.py"]


def test_a_run_without_a_symptom_has_no_carrier(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OVERFLOW.replace("SCALE", "0.1"))
    done = firstcause(tmp_path, "bisect", "python", "train.py")
    assert done.returncode == 3
    assert done.stdout.startswith("not established: the run as it is shows no exception")
