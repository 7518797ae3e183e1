"""A value is followed through a step: where it comes from, where it changes, who takes it, with figures at each line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from recording import firstcause

PROGRAM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(4, 8), nn.Linear(8, 1)

    def shares(self, rows):
        rows = rows / rows.sum(1, keepdim=True)
        return rows.log()

    def forward(self, x):
        hidden = torch.relu(self.inner(x)) * 1.0
        hidden[:, 0] = 1.0
        hidden = self.shares(hidden)
        return self.outer(hidden)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(4, 4).abs() + (0 if step else 1)
    loss = net(x if step else x * 0 + 1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def rows_of(folder: Path, *words: str) -> dict[str, Any]:
    done = firstcause(folder, "trace", "last", *words, "--json", "way.json")
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads((folder / "way.json").read_text())
    return found


def test_a_value_is_followed_through_the_failing_step_and_through_another_one(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    way = rows_of(tmp_path, "hidden")
    assert way["exact"] is True
    told = [(r["site"]["line"], r["kind"], r["how"]) for r in way["rows"]]
    values = [(line, how) for line, kind, how in told if kind == "value"]
    assert values == [(15, "hidden"), (16, "hidden, in place"), (17, "hidden")]
    assert (10, "given", "given to shares as rows") in told
    assert told.index((10, "given", "given to shares as rows")) < told.index((18, "call", "linear"))
    last = next(r for r in way["rows"] if r["kind"] == "value" and r["site"]["line"] == 17)
    assert (last["op"], last["value"]["dtype"], last["value"]["shape"]) == ("log", "float32", [4, 8])
    assert last["value"]["-inf"] > 0
    first = next(r for r in way["rows"] if r["value"].get("-inf"))
    assert (first["how"], first["site"]["line"]) == ("log", 12)
    gradients = [r for r in way["rows"] if r["kind"] == "gradient"]
    assert {r["site"]["line"] for r in gradients} >= {15, 17}

    placed = rows_of(tmp_path, "train.py:11:rows", "--step", "1")
    assert placed["step"] == 1
    assert placed["functions"] == ["shares"]
    assert [r["site"]["line"] for r in placed["rows"] if r["kind"] == "value"] == [10, 11]

    absent = firstcause(tmp_path, "trace", "last", "nothing_of_this_name")
    assert absent.returncode == 2
    assert "has no value in step" in absent.stderr
