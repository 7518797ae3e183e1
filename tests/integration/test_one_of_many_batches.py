"""A failure in one of 200 shuffled batches is explained from its capture alone: program and data are gone by then."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import torch

BAD, ROWS, BATCH = 1234, 3200, 16
PROGRAM = """
import random
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

held = torch.load("visits.pt")
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
torch.manual_seed(random.randrange(10**6))
for age, price, label in DataLoader(TensorDataset(*held), 16, shuffle=True):
    seen = torch.stack([age, price.log()], 1)
    loss = nn.functional.binary_cross_entropy_with_logits(net(seen).squeeze(1), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def firstcause(cwd: Path, *words: str) -> None:
    command = [sys.executable, "-m", "firstcause", *words]
    subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_element_of_the_one_bad_batch_is_named(tmp_path: Path) -> None:
    price = torch.rand(ROWS) * 50 + 1
    price[BAD] = 0.0
    torch.save((torch.rand(ROWS), price, torch.randint(2, (ROWS,)).float()), tmp_path / "visits.pt")
    (tmp_path / "train.py").write_text(PROGRAM)
    firstcause(tmp_path, "run", "-q", "-o", "run", sys.executable, "train.py")
    for name in ("train.py", "visits.pt"):
        (tmp_path / name).unlink()
    firstcause(tmp_path, "diagnose", "run", "--json", "diagnosis.json")
    found = json.loads((tmp_path / "diagnosis.json").read_text())
    assert (found["status"], found["cause"]) == ("established", "log-of-zero")
    assert "price.log()" in found["site"]["text"]
    (evidence,) = next(h["evidence"] for h in found["hypotheses"] if h["cause"] == "log-of-zero")
    assert evidence["kind"] == "replay"
    assert "from 0" in evidence["text"]
