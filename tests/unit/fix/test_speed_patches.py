"""Patches that make steps faster: kept results, loops over elements, seldom logs, one compilation; what they print stays."""

from __future__ import annotations

import ast
import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

from firstcause.fix.apply import apply_diff
from firstcause.fix.patches import (
    data_bound_getitem,
    launch_bound,
    python_loop_over_elements,
    rebuilt_every_step,
    recompiles_every_step,
    sync_every_step,
)
from firstcause.schema import Fix
from firstcause.source import Project
from firstcause.source.pieces import pieces

READ = """
class Rows:
    def __init__(self):
        self.calls = []
        self.names = ["ab", "cd"]

    def load(self, name):
        self.calls.append(name)
        return [ord(c) for c in name]

    def __getitem__(self, i):
        name, k = self.names[i % 2], i % 2
        rows = self.load(name)
        return rows[k]

rows = Rows()
print([rows[i] for i in range(6)])
"""
FILLED = """
import csv, io

def read(name):
    made = []
    for row in csv.reader(io.StringIO(name)):
        made.append(len(row))
    return made[0]

print([read(n) for n in ("a,b", "c", "a,b")])
"""
REBUILT = """
def train():
    size, total = 3, 0
    for step in range(4):
        table = [i * i for i in range(size)]
        total += table[step % size]
    print(total)

train()
"""
LOOP = """
import torch

def loss(x, y):
    total = torch.zeros(())
    for i in range(len(x)):
        total = total + ((x[i] - y[i]) ** 2).sum()
    return total

print(loss(torch.arange(6.0).view(3, 2), torch.ones(3, 2)).item())
"""
LOGGED = """
for step in range(3):
    value = step * 2
    print("log", step, value)
"""
COMPILED = """
import torch

def train(model):
    for step in range(3):
        fast = torch.compile(model, backend="eager")
        print(fast(torch.ones(1)).item())

train(torch.nn.Identity())
"""


def project(tmp_path: Path, text: str) -> tuple[str, Project]:
    path = tmp_path / "train.py"
    path.write_text(text)
    return str(path), Project.of_script(str(path), str(tmp_path))


def piece(path: str, line: int, kind: str, inputs: list[tuple[str, int, bool]]) -> dict[str, Any]:
    found = next(p for p in pieces(ast.parse(Path(path).read_text()), line) if p.kind == kind)
    named = [{"name": n, "values": v, "simple": s} for n, v, s in inputs]
    return {"file": path, **found.plain(), "inputs": named, "distinct": 2, "gain": {"gain": 3.0}}


def printed(text: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "train.py", "exec"), {"__name__": "__main__"})
    return out.getvalue()


def patched(tmp_path: Path, fix: Fix | None) -> str:
    assert fix is not None
    apply_diff(fix.diff, str(tmp_path))
    return (tmp_path / "train.py").read_text()


def test_a_method_keeps_what_it_reads(tmp_path: Path) -> None:
    path, own = project(tmp_path, READ)
    facts = piece(path, 13, "run", [("self", 1, False), ("name", 2, True)])
    site = data_bound_getitem.line(facts, own)
    assert site is not None
    assert site.line == 13
    text = patched(tmp_path, data_bound_getitem.patch(facts, own, str(tmp_path)))
    assert "self.rows_kept = {}" in text
    assert "if name not in self.rows_kept:" in text
    assert printed(text) == printed(READ)


def test_what_a_key_cannot_be_made_of_stays(tmp_path: Path) -> None:
    path, own = project(tmp_path, READ)
    facts = piece(path, 13, "run", [("self", 1, False), ("name", 2, False)])
    assert data_bound_getitem.patch(facts, own, str(tmp_path)) is None


def test_a_function_keeps_what_it_fills_beside_it(tmp_path: Path) -> None:
    path, own = project(tmp_path, FILLED)
    facts = piece(path, 7, "run", [("csv", 1, False), ("io", 1, False), ("name", 2, True)])
    text = patched(tmp_path, data_bound_getitem.patch(facts, own, str(tmp_path)))
    assert "_made_kept = {}" in text
    assert printed(text) == printed(FILLED)


def test_a_whole_function_is_cached(tmp_path: Path) -> None:
    path, own = project(tmp_path, FILLED)
    facts = piece(path, 8, "body", [("name", 2, True), ("csv", 1, False), ("io", 1, False)])
    text = patched(tmp_path, rebuilt_every_step.patch(facts, own, str(tmp_path)))
    assert "import functools" in text
    assert "@functools.lru_cache(maxsize=None)\ndef read(name):" in text
    assert printed(text) == printed(FILLED)


def test_what_never_changes_goes_above_the_loop(tmp_path: Path) -> None:
    path, own = project(tmp_path, REBUILT)
    facts = piece(path, 5, "run", [("size", 1, True)])
    text = patched(tmp_path, rebuilt_every_step.patch(facts, own, str(tmp_path)))
    assert text.index("table = [") < text.index("for step in")
    assert printed(text) == printed(REBUILT)


def test_a_loop_over_elements_becomes_one_call(tmp_path: Path) -> None:
    path, own = project(tmp_path, LOOP)
    facts = {"file": path, "line": 6, "column": 4, "last": 7, "hot": 7, "ways": ["together"], "change": 0}
    site = python_loop_over_elements.line(facts, own)
    assert site is not None
    assert site.line == 6
    text = patched(tmp_path, python_loop_over_elements.patch(facts, own, str(tmp_path)))
    assert "torch.vmap" in text
    assert printed(text) == printed(LOOP)


SAMPLES = """
import torch

net = torch.nn.Linear(3, 1)
torch.nn.init.ones_(net.weight)
rows = torch.arange(12.0).reshape(4, 3)
found = torch.cat([net(rows[i : i + 1]) for i in range(len(rows))])
print((found - found[0]).round().tolist())
"""


def test_samples_go_through_a_model_at_once(tmp_path: Path) -> None:
    path, own = project(tmp_path, SAMPLES)
    facts = {"file": path, "line": 7, "column": 0, "last": 7, "hot": 7, "ways": ["together"]}
    assert launch_bound.patch(facts, own, str(tmp_path)) is None
    site = launch_bound.line(facts, own)
    assert site is not None
    assert site.line == 7
    text = patched(tmp_path, launch_bound.patch(facts | {"change": 0}, own, str(tmp_path)))
    assert "torch.vmap" in text
    assert printed(text) == printed(SAMPLES)


def test_a_log_is_written_seldom(tmp_path: Path) -> None:
    path, own = project(tmp_path, LOGGED)
    facts = {"file": path, "line": 4, "column": 4, "last": 4}
    text = patched(tmp_path, sync_every_step.patch(facts, own, str(tmp_path)))
    assert printed(text) == "log 0 0\n"
    facts = {"file": path, "line": 3, "column": 4, "last": 3}
    assert sync_every_step.patch(facts, own, str(tmp_path)) is None


def test_compiling_goes_above_the_loop(tmp_path: Path) -> None:
    path, own = project(tmp_path, COMPILED)
    text = patched(tmp_path, recompiles_every_step.patch({"file": path, "line": 6}, own, str(tmp_path)))
    assert text.index("fast = ") < text.index("for step")


@pytest.mark.parametrize("line", [7, 5])
def test_another_line_is_not_moved(line: int, tmp_path: Path) -> None:
    path, own = project(tmp_path, COMPILED)
    assert recompiles_every_step.patch({"file": path, "line": line}, own, str(tmp_path)) is None
