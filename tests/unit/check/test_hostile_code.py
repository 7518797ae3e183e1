"""Whatever lies in a folder, a check ends in time, says in one line what it left out, and reads the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

GOOD = """
import torch
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in range(10):
    loss = model(torch.ones(1, 2)).sum()
    loss.backward()
    optimizer.step()
"""
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{n}: &{n} [{', '.join([f'*{p}'] * 9)}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True)
)
READS = 'import yaml\nconfig = yaml.safe_load(open("{}"))\nprint(config["a"])\n'
CASES = {
    "python 2": ({"old.py": "print 'x'\nexec 'y'\n"}, "syntax-error", "old.py", 1),
    "latin-1": ({"old.py": b"x = '\xe9'\n"}, "syntax-error", "old.py", 1),
    "utf-16": ({"old.py": "x = 1".encode("utf-16")}, "syntax-error", "old.py", 1),
    "null bytes": ({"old.py": b"x = 1\n\0\0"}, "syntax-error", "old.py", 1),
    "deep": ({"old.py": "x = " + "(" * 5000 + ")" * 5000}, "syntax-error", "old.py", 1),
    "deep operators": ({"old.py": "x = " + "-" * 20000 + "1"}, "note", "old.py", 1),
    "deep attributes": ({"old.py": "x = y" + ".a" * 20000}, "note", "old.py", 1),
    "deep blocks": (
        {"old.py": "".join(" " * n + "if x:\n" for n in range(120)) + " " * 120 + "pass\n"}, "syntax-error", "old.py", 101,
    ),
    "deep functions": (
        {"old.py": "".join(" " * n + "def f():\n" for n in range(80)) + " " * 80 + "pass\n"}, "", "old.py", 1,
    ),
    "a sum of many": ({"old.py": "x = " + " + ".join(["1"] * 30000)}, "note", "old.py", 1),
    "one line of two megabytes": ({"old.py": "x = [" + "1, " * 650_000 + "]"}, "", "old.py", 1),
    "a name that is no utf-8": ({os.fsdecode(b"caf\xe9.py"): "x = 1\n"}, "", "", 0),
    "a codec of its own": ({"old.py": "# -*- coding: rot13 -*-\nk = 1\n"}, "syntax-error", "old.py", 1),
    "conflict": ({"old.py": "x = 1\n<<<<<<< HEAD\ny = 2\n"}, "syntax-error", "old.py", 2),
    "broken notebook": ({"old.ipynb": '{"cells": ['}, "syntax-error", "old.ipynb", 1),
    "yaml bomb": ({"old.py": READS.format("c.yaml"), "c.yaml": BOMB}, "note", "c.yaml", 1),
    "yaml tag": ({"old.py": READS.format("c.yaml"), "c.yaml": "a: 1\nb: !!python/name:os.system ''\n"}, "note", "c.yaml", 2),
    "broken yaml": ({"old.py": READS.format("c.yaml"), "c.yaml": "a: 1\n\tb: 2\n"}, "syntax-error", "c.yaml", 2),
    "broken json": (
        {"old.py": 'import json\nprint(json.load(open("c.json"))["a"])\n', "c.json": '{\n"a": 1,\n}'}, "syntax-error", "c.json", 3,
    ),
    "unread bomb": ({"old.py": "x = 1\n", "c.yaml": BOMB}, "", "c.yaml", 1),
    "cyclic imports": ({"old.py": "from new import y\nx = y\n", "new.py": "from old import x\ny = x\n"}, "", "", 0),
}  # fmt: skip


def check(folder, *more):
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "firstcause", "check", ".", "--json", "out.json", *more]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    return done, json.loads((folder / "out.json").read_text())


def laid(folder, files):
    (folder / "train.py").write_text(GOOD)
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize(("files", "slug", "file", "line"), CASES.values(), ids=CASES)
def test_one_line_for_what_cannot_be_read_and_the_rest_goes_on(tmp_path, files, slug, file, line):
    laid(tmp_path, files)
    _, report = check(tmp_path)
    assert [f["slug"] for f in report["findings"] if f["file"] == "train.py"] == ["missing-zero-grad"]
    broken = [(f["file"], f["line"]) for f in report["findings"] if f["slug"] == "syntax-error"]
    assert broken == ([(file, line)] if slug == "syntax-error" else [])
    notes = [n for n in report["notes"] if n.startswith(f"{file}:{line} was left out")]
    assert len(notes) == (1 if slug == "note" else 0)
    assert [n for n in report["notes"] if "failed" in n] == []


def test_large_files_links_in_circles_and_pipes(tmp_path):
    laid(tmp_path, {})
    with open(tmp_path / "large.py", "wb") as file:
        file.truncate(100_000_000)
    for name in ("large.ipynb", "large.yaml"):
        with open(tmp_path / name, "wb") as file:
            file.truncate(100_000_000)
    (tmp_path / "reads.py").write_text(READS.format("large.yaml"))
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "device.py").symlink_to("/dev/zero")
    (tmp_path / "folder.py").mkdir()
    _, report = check(tmp_path)
    assert [f["slug"] for f in report["findings"]] == ["missing-zero-grad"]
    left_out = {n.partition(":")[0] for n in report["notes"]}
    assert left_out == {"large.py", "large.ipynb", "large.yaml", "self.py", "pipe.py", "device.py"}


def test_a_notebook_with_broken_cells_is_read_in_its_others(tmp_path):
    cells = [{"cell_type": "code", "source": s} for s in ("def f(:\n", GOOD, "x = = 2")]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    done, report = check(tmp_path)
    assert done.returncode == 1
    assert sorted((f["slug"], f["cell"], f["cell_line"]) for f in report["findings"]) == [
        ("missing-zero-grad", 2, 8),
        ("syntax-error", 1, 1),
        ("syntax-error", 3, 1),
    ]


def test_a_config_alone_is_no_program(tmp_path):
    laid(tmp_path, {"c.yaml": "a: 1\n"})
    command = [sys.executable, "-m", "firstcause", "check", "c.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "c.yaml is no Python file or notebook" in done.stderr
