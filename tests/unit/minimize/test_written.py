"""What is written down can be read by Python again: tensors with their types, and texts with what they hold."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from firstcause.minimize.failure import Failure
from firstcause.minimize.program import Leaf, Program
from firstcause.minimize.reductions.plain_values import expressions
from firstcause.minimize.regression import regression_test
from firstcause.minimize.reproduce import Reproduction
from firstcause.minimize.writing import Writer
from firstcause.record.folder import RunFolder
from firstcause.schema import Run


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float32,
        torch.float64,
        torch.int64,
        torch.int32,
        torch.uint8,
        torch.bool,
        torch.complex64,
        torch.complex128,
    ],
)
def test_tensor_that_is_written_has_its_type(dtype: torch.dtype) -> None:
    value = torch.ones(3).to(dtype)
    writer = Writer(Program({}, ()), Failure("raised", "", ""))
    for made in (None, *expressions(Leaf(value))):
        assert eval(writer.made(Leaf(value, made=made)), {"torch": torch}).dtype is dtype


def test_message_with_a_backslash_stands_in_the_test(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path / "run"))
    (tmp_path / "run").mkdir()
    folder.begin(Run("run", ("python", "train.py"), str(tmp_path), "", "3.11", "linux"))
    script = 'raise ValueError("C:\\\\users \\"\\"\\"")\n'
    made = Reproduction(script, 1, 1, 1, r"ValueError: no C:\users", failure={"what": "ValueError"})
    text = regression_test(folder, 3, made, str(tmp_path / "test_it.py"))
    assert text is not None
    said = ast.get_docstring(ast.parse(text)) or ""
    assert r"no C:\users" in said
    assert r"C:\\users" in said


FORKS = """
import torch
import torch.multiprocessing as mp

def train(rank):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(9):
        optimizer.zero_grad()
        net(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    open(f"ended-{rank}", "w").close()

mp.start_processes(train, nprocs=2, start_method="fork")
"""


def test_ranks_that_are_forks_go_on_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FORKS)
    folder = RunFolder(str(tmp_path / "run"))
    (tmp_path / "run").mkdir()
    folder.begin(Run("run", ("python", "train.py"), str(tmp_path), "", "3.11", "linux"))
    made = Reproduction("assert False\n", 1, 1, 1, "AssertionError", failure={"what": "AssertionError"})
    text = regression_test(folder, 1, made, str(tmp_path / "test_it.py"))
    assert text is not None
    (tmp_path / "test_it.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_it.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "ended-0").exists()
    assert (tmp_path / "ended-1").exists()
