"""The user's theory is wrong, and the diagnosis says so with the numbers: a real run, blamed on its normalisation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import torch
from torch import nn

torch.manual_seed(0)
LR = 5.0
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)
x = torch.randn(256, 4)
y = x.sum(dim=1, keepdim=True)
for step in range(40):
    batch = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("final", loss.item())
"""
REPORT = "BatchNorm ruins my training\n\nI use it everywhere. Is the dropout too strong?\n\n  final 1e30\n"


def firstcause(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause.cli.main", *words],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theories")
    (folder / "train.py").write_text(PROGRAM)
    (folder / "report.txt").write_text(REPORT)
    done = firstcause(folder, "run", "-q", "--report", "report.txt", "-o", "run", sys.executable, "train.py")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_innocent_are_cleared_and_the_cause_is_confirmed(run: Path) -> None:
    done = firstcause(run, "diagnose", "run", "--yes", "--theory", "the lr is too high", "--json", "d.json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((run / "d.json").read_text())
    assert found["cause"] == "learning-rate-too-high"
    statuses = {h["cause"]: h["status"] for h in found["hypotheses"]}
    assert statuses["learning-rate-too-high"] == "confirmed"
    assert statuses["batch-normalisation"] == statuses["dropout"] == "refuted"
    (evidence,) = next(h for h in found["hypotheses"] if h["cause"] == "batch-normalisation")["evidence"]
    assert (evidence["kind"], evidence["supports"]) == ("counterfactual", False)
    assert len(evidence["values"]["without batch normalisation"]["losses"]) > 1
    text = " ".join(found["sections"]["Root Cause"].split())
    assert "Theory “the lr is too high” (learning-rate-too-high): confirmed; counterfactual" in text
    assert "Theory “BatchNorm ruins my training” (batch-normalisation): refuted; counterfactual" in text
    shown = firstcause(run, "case", "show").stdout
    for page in (done.stdout, shown):
        assert "(batch-normalisation): refuted" in " ".join(page.split())


def test_what_is_not_allowed_to_run_is_not_tested(run: Path) -> None:
    done = firstcause(run, "diagnose", "run", "--theory", "padding")
    text = " ".join(done.stdout.split())
    assert "Theory “padding” (padding): not tested; missing:" in text
    assert "(batch-normalisation): not tested; missing:" in text
    assert "--yes" in text.partition("(batch-normalisation)")[2]


LOADER = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.layer = nn.Linear(width, out)
        self.norm = nn.LayerNorm(out)

    def forward(self, x):
        return x + self.norm(self.layer(x)).relu()


model = nn.Sequential(Block(8, 8), Block(8, 12), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, y in DataLoader(TensorDataset(torch.randn(64, 8), torch.randn(64, 1)), batch_size=16, shuffle=True):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_loader_that_is_blamed_for_a_shape_is_cleared_by_the_replay(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOADER)
    firstcause(tmp_path, "run", "-q", "-o", "run", sys.executable, "train.py")
    words = ["the loader returns wrong batches", "LayerNorm, maybe", "nan in the data", "dtype mismatch"]
    theories = [w for text in words for w in ("--theory", text)]
    done = firstcause(tmp_path, "diagnose", "run", "--yes", *theories, "--json", "d.json")
    found = json.loads((tmp_path / "d.json").read_text())
    assert found["cause"] == "residual-shape-mismatch", done.stdout + done.stderr
    text = " ".join(found["sections"]["Root Cause"].split())
    assert (
        "(data-loader): refuted; replay: step 0 fails again on the recorded batch with no loader and no worker at work"
        in text
    )
    assert (
        "(layer-normalisation): refuted; counterfactual: the failing step without layer normalisation" in text
    )
    assert "(nan-in-data): refuted" in text
