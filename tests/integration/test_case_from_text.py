"""The commands of a case that begins with a text: open, run, diagnose, and one case at the end."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from recording import firstcause

PROGRAM = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.randn(4, 8)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
PASTED = """\
since this morning, please help:
  File "/home/ada/train.py", line 8, in <module>
    loss = model(torch.randn(4, 8)).mean()
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x16 and 12x1)
"""


def test_a_pasted_error_becomes_a_diagnosed_case(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "error.txt").write_text(PASTED)
    opened = firstcause(tmp_path, "case", "open", "error.txt", "--json", "case.json")
    assert opened.returncode == 0, opened.stderr
    assert "it began with a text" in opened.stdout
    begun = json.loads((tmp_path / "case.json").read_text())
    assert begun["state"] == "hypotheses"
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    firstcause(tmp_path, "diagnose", "last", "-q")
    shown = firstcause(tmp_path, "case", "show", "--json", "case.json")
    assert shown.returncode == 0, shown.stderr
    now = json.loads((tmp_path / "case.json").read_text())
    assert (now["id"], now["state"]) == (begun["id"], "diagnosed")
    assert now["run"]
    assert len(firstcause(tmp_path, "case", "list").stdout.splitlines()) == 1


def test_a_text_of_nothing_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "question.txt").write_text("which laptop should I buy for deep learning?\n")
    done = firstcause(tmp_path, "case", "open", "question.txt")
    assert done.returncode == 2
    assert done.stderr.startswith("firstcause: the text tells of no symptom")
    assert not (tmp_path / ".firstcause").exists()
