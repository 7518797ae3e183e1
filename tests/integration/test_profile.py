"""A slow training through ``firstcause profile``: the class, the line, and the gain of the very patch that is offered."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recording import firstcause

SLOW = """import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
rows, wanted = torch.randn(20000, 32), torch.randn(20000)
for step in range(60):
    order = sorted(range(len(rows)), key=lambda n: float(wanted[n]))  # slow
    x, y = rows[order[32 * step : 32 * step + 32]], wanted[order[32 * step : 32 * step + 32]]
    loss = (net(x).squeeze(1) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BY_NATURE = """import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(40):
    x = torch.randn(256, 1024)
    loss = (net(x).squeeze(1) - x.sum(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def profiled(cwd: Path, text: str) -> dict[str, Any]:
    (cwd / "train.py").write_text(text)
    done = firstcause(cwd, "profile", "--json", "p.json", sys.executable, "train.py")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads((cwd / "p.json").read_text())
    return answer | {"printed": " ".join(done.stdout.split())}


def test_the_gain_is_that_of_the_patch_that_is_offered(tmp_path: Path) -> None:
    told = profiled(tmp_path, SLOW)
    diagnosis = told["diagnosis"]
    assert (diagnosis["cause"], diagnosis["site"]["line"]) == ("rebuilt-every-step", 9)
    assert told["with_patch"]
    # Nothing of the sorting is left, nor of a comparison of its inputs.
    assert told["gain"] > 10
    assert told["after_ms"] < told["step_ms"] / 10
    assert "With the patch the same steps take" in told["printed"]
    (tmp_path / "fix.diff").write_text(diagnosis["fix"]["diff"])
    subprocess.run(["patch", "-s", "-p1", "-i", "fix.diff"], cwd=tmp_path, check=True)
    text = (tmp_path / "train.py").read_text()
    assert text.index("order = sorted") < text.index("for step")


@pytest.mark.slow
def test_what_is_slow_by_nature_gets_no_cause(tmp_path: Path) -> None:
    told = profiled(tmp_path, BY_NATURE)
    assert told["diagnosis"] is None
    assert (told["gain"], told["with_patch"]) == (None, False)
