"""A failing test of a user's suite, with ``--firstcause``: its report names the cause in the user's own lines."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from recording import environment, firstcause, the_run

SUITE = """
import pytest, torch
from torch import nn

from model import Classifier


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Classifier()


def test_ids(model):
    assert model(torch.tensor([[1, 2], [3, 10]])).shape == (2, 3)


def test_learns(model):
    features = torch.randn(64, 4)
    wanted = features.sum(1)
    regression = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(regression.parameters(), 0.1)
    for _ in range(100):
        loss = nn.functional.mse_loss(regression(features), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1


def test_by_what_another_leaves(model):
    assert getattr(torch, "_left_by_another", 0) == 0 or torch.zeros(1) > 0


def test_is_healthy(model):
    assert model(torch.tensor([[1, 2]])).isfinite().all()
"""
MODEL = """
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, ids):
        return self.head(self.table(ids).mean(1))
"""
LEAVES = """
import torch

def test_leaves():
    torch._left_by_another = 1
"""


def suite(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "model.py").write_text(MODEL)
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "test_a_leaves.py").write_text(LEAVES)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -q\npythonpath = .\n")
    command = [sys.executable, "-m", "pytest", "--firstcause", "--firstcause-budget", "60", *words]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=600, check=False
    )


def sections(out: str) -> list[str]:
    return out.split("- firstcause -")[1:]


def test_an_index_out_of_range_is_diagnosed_in_its_report(tmp_path: Path) -> None:
    done = suite(tmp_path, "test_suite.py", "-k", "ids or healthy")
    assert done.returncode == 1
    (told,) = sections(done.stdout)
    assert "embedding-index-out-of-range at model.py:" in told
    assert "established" in told
    assert "1 failed, 1 passed" in done.stdout


@pytest.mark.slow
def test_beside_xdist_an_assertion_is_told_from_the_training_behind_it(tmp_path: Path) -> None:
    done = suite(tmp_path, "test_suite.py", "-n", "2", "-k", "ids or learns")
    assert done.returncode == 1
    told = sections(done.stdout)
    assert len(told) == 2, done.stdout
    assert sum("embedding-index-out-of-range at model.py:" in one for one in told) == 1
    line = next(n for n, text in enumerate(SUITE.splitlines(), 1) if "mse_loss" in text)
    assert sum(f"broadcast-in-loss at test_suite.py:{line}" in one for one in told) == 1


@pytest.mark.slow
def test_what_fails_a_test_is_a_symptom_of_a_recorded_run_of_pytest(tmp_path: Path) -> None:
    suite(tmp_path, "--collect-only")
    words = ("run", "-q", sys.executable, "-m", "pytest")
    firstcause(tmp_path, *words, "test_suite.py::test_ids")
    (raised,) = the_run(tmp_path).run().symptoms
    assert (raised.kind, raised.message) == ("exception", "IndexError: index out of range in self")
    shutil.rmtree(tmp_path / ".firstcause")
    done = firstcause(tmp_path, *words, "-p", "no:cacheprovider", "test_suite.py::test_learns")
    (said,) = the_run(tmp_path).run().symptoms
    assert said.kind == "expectation"
    assert re.match(r"`assert loss.item\(\) < 0.1` was expected to hold: assert \d", said.message)
    assert said.site is not None
    assert said.site.file == "test_suite.py"
    assert done.returncode == 1


@pytest.mark.slow
def test_the_time_that_a_test_may_take_is_not_that_of_its_diagnosis(tmp_path: Path) -> None:
    pytest.importorskip("pytest_timeout")
    done = suite(tmp_path, "test_suite.py", "-k", "ids", "--timeout", "5")
    assert len(sections(done.stdout)) == 1
    assert "Timeout" not in done.stdout


@pytest.mark.slow
def test_a_failure_that_needs_other_tests_is_told_as_one(tmp_path: Path) -> None:
    done = suite(tmp_path, "test_a_leaves.py", "test_suite.py::test_by_what_another_leaves")
    (told,) = sections(done.stdout)
    assert "not diagnosed: run alone, the test passes" in told
