"""The generated leaks of benchmarks/leaks.py: what they are, and one of each kind of answer through the command line."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def leaks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("leaks")


def test_each_leak_has_a_line_that_keeps_and_no_look_alike_has_one(leaks: Any) -> None:
    assert (len(leaks.LEAKS), len(leaks.LOOKALIKES)) == (24, 12)
    for program in (*leaks.LEAKS, *leaks.LOOKALIKES):
        text, lines = program.text()
        compile(text, program.label, "exec")
        assert bool(lines) == (program.name is not None), program.label


@pytest.mark.slow
@pytest.mark.parametrize("label", ["exceptions-in-dict", "numpy-list", "replay-fills-up"])
def test_the_holder_is_named_and_none_is_invented(leaks: Any, label: str) -> None:
    program = next(p for p in (*leaks.LEAKS, *leaks.LOOKALIKES) if p.label == label)
    found = leaks.measure(program)
    assert found["right"], found
