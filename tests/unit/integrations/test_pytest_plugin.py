"""The plugin in a real pytest of its own: what it costs, its limits, and its words where nothing can be diagnosed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.integrations.testing.diagnosing import _options

MARKED = """
import functools
import pytest, torch
from torch import nn

HISTORY = []


class Trainer:
    losses = []


@functools.cache
def positions(n):
    return torch.arange(n)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Linear(4, 1)


@pytest.fixture(scope="module")
def shared():
    return torch.zeros(3)


def train(model, scale, steps=3):
    x = torch.randn(16, 4) * scale
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.detach()


@pytest.mark.firstcause(max_grad_norm=100)
def test_steep(model):
    train(model, 100.0)


@pytest.mark.firstcause(max_grad_norm=100, leaks=0)
def test_gentle(model, shared):
    assert train(model, 1.0) < 10


@pytest.mark.firstcause(max_grad_norm=1e6)
def test_not_finite(model):
    train(model, float("inf"))


@pytest.mark.firstcause(max_grad_norm=5)
def test_backward_alone(model):
    (model(torch.ones(2, 4)) * 100).sum().backward()


@pytest.mark.firstcause(max_grad_norm=5)
def test_clipped(model):
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    (model(torch.ones(2, 4)) * 100).sum().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@pytest.mark.firstcause(leaks=1)
def test_history(model):
    HISTORY.extend(train(model, 1.0) for _ in range(3))


@pytest.mark.firstcause(leaks=0)
def test_class(model):
    Trainer.losses.append(train(model, 1.0))


@pytest.mark.firstcause(leaks=0)
def test_cached():
    positions(7)


@pytest.mark.firstcause(leaks=1)
def test_within_the_limit():
    positions(8)


def test_unmarked(model):
    HISTORY.append(train(model, 100.0))
"""
UNKNOWN = """
import pytest

@pytest.mark.firstcause(max_norm=1)
def test_it():
    pass
"""
PLAIN = """
import sys

def test_what_is_loaded():
    ours = sorted(name for name in sys.modules if name.startswith("firstcause"))
    assert ours == ["firstcause", "firstcause.integrations", "firstcause.integrations.testing",
                    "firstcause.integrations.testing.plugin"]
    assert "torch" not in sys.modules
"""


def run(folder: Path, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-rA", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run(tmp_path_factory.mktemp("marked"), MARKED, "-q").stdout


@pytest.mark.parametrize(
    "told",
    [
        "at step 0 of SGD, above max_grad_norm=100; the largest part is that of Linear.weight",
        "the gradient norm is nan at step 0 of SGD, above max_grad_norm=1e+06",
        "after backward 1, above max_grad_norm=5",
        "3 tensors made by the test outlive it (12 bytes), above leaks=1; held by test_it.HISTORY",
        "1 tensor made by the test outlives it (4 bytes), above leaks=0; held by test_it.Trainer.losses",
        "1 tensor made by the test outlives it (56 bytes), above leaks=0; held by the cache of test_it.positions",
    ],
)
def test_a_limit_that_is_passed_is_told_with_its_number_and_its_holder(marked: str, told: str) -> None:
    assert told in marked


def test_only_what_is_above_a_limit_fails(marked: str) -> None:
    lines = marked[marked.index("short test summary") :].splitlines()
    failed = sorted(
        {line.split("::")[1].split()[0] for line in lines if line.startswith(("FAILED", "ERROR"))}
    )
    assert failed == [
        "test_backward_alone",
        "test_cached",
        "test_class",
        "test_history",
        "test_not_finite",
        "test_steep",
    ]


def test_an_unknown_limit_is_an_error_of_usage(tmp_path: Path) -> None:
    done = run(tmp_path, UNKNOWN)
    assert (
        "the firstcause marker takes max_grad_norm and leaks, and not 'max_norm'" in done.stdout + done.stderr
    )
    assert done.returncode != 0


def test_nothing_is_loaded_where_nothing_is_asked_for(tmp_path: Path) -> None:
    done = run(tmp_path, PLAIN)
    assert done.returncode == 0, done.stdout


def test_a_marked_test_may_skip_itself_where_torch_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("import sys\n\nsys.modules['torch'] = None\n")
    done = run(
        tmp_path, UNKNOWN.replace("max_norm=1", "leaks=0").replace("pass", "pytest.importorskip('torch')")
    )
    assert "1 skipped" in done.stdout, done.stdout


def test_a_test_without_torch_is_not_run_again(tmp_path: Path) -> None:
    done = run(tmp_path, "def test_it():\n    assert 1 == 2\n", "--firstcause")
    assert "firstcause: failing tests are run again by" in done.stdout
    assert "- firstcause -" not in done.stdout
    assert not (tmp_path / ".firstcause").exists()


@pytest.mark.parametrize(
    ("given", "positional", "left"),
    [
        (["--firstcause", "-x", "tests/test_a.py"], ["tests/test_a.py"], ["-x"]),
        (["--firstcause-budget", "5", "-k", "fast"], ["tests"], ["-k", "fast"]),
        (["--firstcause-budget=5", "--device", "cpu", "tests"], ["tests"], ["--device", "cpu"]),
        (["--pdb", "--trace", "--maxfail=2"], ["."], ["--maxfail=2"]),
        (["-k", "tests", "tests"], ["tests"], ["-k", "tests"]),
    ],
)
def test_what_was_typed_is_typed_again_without_files_and_our_own_options(
    given: list[str], positional: list[str], left: list[str]
) -> None:
    assert _options(given, positional) == left
