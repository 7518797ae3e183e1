"""A recorded failure becomes a script of a few lines that fails the same way in an empty folder, with torch alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(24, 24) for _ in range(10))
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return torch.sigmoid(self.out(x) * 4)


torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(30):
    x = torch.randn(16, 24) * (1 + step)
    p = model(x)
    loss = -torch.log(1 - p).mean() - torch.log(p + 1e-3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def firstcause(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_failing_step_becomes_a_script_of_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "minimize", "-o", "repro.py", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    script = (tmp_path / "repro.py").read_text()
    assert "torch.log" in script
    assert "Encoder" not in script
    told = json.loads((tmp_path / "out.json").read_text())
    assert (told["left"], told["calls"] > 20) == (1, True)
    empty = tmp_path / "empty"
    empty.mkdir()
    alone = subprocess.run(
        [sys.executable, tmp_path / "repro.py"], cwd=empty, capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1
    assert alone.stderr.splitlines()[-1] == told["ends"] == "AssertionError: tensor([-inf])"


def test_run_without_a_failure_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('fine')\n")
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "minimize")
    assert done.returncode == 2
    assert "holds no failing step" in done.stderr
