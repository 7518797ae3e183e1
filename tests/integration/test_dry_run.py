"""The dry run through the command line: its findings with those of a reading, its ends, and what it does not let happen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SHAPES = """
import sys
import torch
from torch import nn

width = int(sys.argv[1])
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(width, 10))
opt = torch.optim.Adam(model.parameters())
for step in range(1000):
    x, y = torch.randn(4, 3, 10, 10), torch.randint(0, 10, (4,))
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
"""

HOSTILE = """
import ctypes, os, socket, subprocess
home = os.path.expanduser("~")
libc = ctypes.CDLL(None)
assert libc.fork() == -1
assert libc.socket(2, 1, 0) == -1
libc.open(os.path.join(home, "dry-native").encode(), 0o101, 0o644)
open(os.path.join(home, "dry-python"), "w").write("x")
def tried(do):
    try:
        do()
    except Exception:
        pass
tried(lambda: subprocess.run(["touch", os.path.join(home, "dry-process")]))
tried(lambda: socket.create_connection(("127.0.0.1", 9), 1))
tried(os.fork)
tried(lambda: socket.socket().connect(("127.0.0.1", 9)))
"""


def check(folder: Path, *options: str) -> dict:
    command = [
        sys.executable,
        "-m",
        "firstcause",
        "check",
        ".",
        "--no-cache",
        "-q",
        "--json",
        "out.json",
        *options,
    ]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert ended.returncode in (0, 1), ended.stderr
    return json.loads((folder / "out.json").read_text())


def test_what_is_read_is_confirmed_and_what_only_a_run_shows_is_found(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SHAPES)
    right = check(tmp_path, "--command", "python train.py 512")
    by_slug = {f["slug"]: f for f in right["findings"]}
    assert list(by_slug) == ["missing-zero-grad"]
    assert by_slug["missing-zero-grad"]["message"].endswith("a dry run confirms it")
    wrong = check(tmp_path, "--command", "python train.py 500")
    found = next(f for f in wrong["findings"] if f["slug"] == "shape-mismatch" or "flatten" in f["slug"])
    assert "512" in found["message"]
    assert "500" in found["message"]
    assert found["line"] == 11


def test_an_end_before_the_end_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SHAPES)
    said = "\n".join(check(tmp_path, "--dry")["notes"])
    assert "train.py could not be dry-run past train.py:6, because it raises IndexError" in said


def test_a_notebook_is_run_and_its_lines_are_those_of_the_file(tmp_path: Path) -> None:
    cells = [
        "%matplotlib inline\n",
        "import torch\nfrom torch import nn\nmodel = nn.Linear(8, 3)\n",
        "model(torch.ones(2, 9))\n",
    ]
    made = [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in cells]
    (tmp_path / "study.ipynb").write_text(json.dumps({"cells": made, "nbformat": 4}, indent=1))
    text = (tmp_path / "study.ipynb").read_text().splitlines()
    found = next(f for f in check(tmp_path, "--dry")["findings"] if f["slug"] == "shape-mismatch")
    assert "model(torch.ones(2, 9))" in text[found["line"] - 1]


def test_nothing_gets_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(HOSTILE)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    report = check(tmp_path, "--dry")
    assert [f for f in os.listdir(home) if f.startswith("dry-")] == []
    notes = "\n".join(report["notes"])
    assert "to its end, and nothing was trained" in notes
    for word in ("starts a process", "looks up a host", "uses the network"):
        assert word in notes
    assert list(scratch.glob("firstcause-dry-*")) == []


@pytest.mark.slow
def test_who_does_not_stop_is_stopped(tmp_path: Path) -> None:
    from firstcause.check.dry.commands import Command
    from firstcause.check.dry.process import run_dry

    script = tmp_path / "train.py"
    script.write_text(
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass\n"
    )
    ended = run_dry(Command(str(script), (), str(tmp_path)), str(tmp_path), 12.0)
    assert ended.end["outcome"] == "lost"
    assert "was killed" in ended.end["why"]
