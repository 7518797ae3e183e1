"""The generated leaks of benchmarks/leaks.py: what they are, and one of each kind of answer through the command line."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "leaks.py"


def _leaks() -> Any:
    spec = importlib.util.spec_from_file_location("leaks", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["leaks"] = module
    spec.loader.exec_module(module)
    return module


def test_each_leak_has_a_line_that_keeps_and_no_look_alike_has_one() -> None:
    leaks = _leaks()
    assert (len(leaks.LEAKS), len(leaks.LOOKALIKES)) == (24, 12)
    for program in (*leaks.LEAKS, *leaks.LOOKALIKES):
        text, lines = program.text()
        compile(text, program.label, "exec")
        assert bool(lines) == (program.name is not None), program.label


@pytest.mark.slow
@pytest.mark.parametrize("label", ["exceptions-in-dict", "numpy-list", "replay-fills-up"])
def test_the_holder_is_named_and_none_is_invented(label: str) -> None:
    leaks = _leaks()
    program = next(p for p in (*leaks.LEAKS, *leaks.LOOKALIKES) if p.label == label)
    found = leaks.measure(program)
    assert found["right"], found
