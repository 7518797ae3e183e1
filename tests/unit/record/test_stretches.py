"""Which statements around a line of a traceback are replayed, where no step is among them."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from firstcause.record.observe import stretches

STEPS = {"step", "main"}
SCRIPT = """\
'''What it is for.'''
import torch
net = make()
for x in batches:
    optimizer.step()
    log(x)
scores = []
for x in tests:
    scores.append(net(x))
report(scores)
def later():
    yield 1
    fail()
"""


def found(source: str, line: int) -> list[int] | None:
    """The first and last line of the stretch around one."""
    for scope in ast.walk(ast.parse(source)):
        if isinstance(scope, (ast.Module, ast.FunctionDef)):
            stretch = stretches.stretch_in(scope, frozenset({line}), STEPS)
            if stretch is not None:
                return [stretch.statements[0].lineno, stretch.statements[-1].end_lineno or 0]
    return None


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        # From the loop of steps to the next definition.
        (9, [7, 10]),
        # Behind the docstring and the imports.
        (3, [3, 3]),
        # Within the loop of steps, what is beside the step.
        (6, [6, 6]),
        # The step itself, a definition, and what yields have none.
        (5, None),
        (2, None),
        (13, None),
    ],
)
def test_it_goes_as_far_as_no_step_is_led_to(line: int, lines: list[int] | None) -> None:
    assert found(SCRIPT, line) == lines


def test_each_scope_that_the_traceback_passes_has_its_own() -> None:
    tree = ast.parse("def check(x):\n    y = x + 1\n    fail(y)\nstep()\nz = 1\ncheck(z)\n")
    lines = frozenset({3, 6})
    whole = stretches.stretch_in(tree, lines, STEPS)
    inner = stretches.stretch_in(tree.body[0], lines, STEPS)  # type: ignore[arg-type]
    assert whole is not None
    assert inner is not None
    assert [s.lineno for s in whole.statements] == [5, 6]
    assert [s.lineno for s in inner.statements] == [2, 3]


@pytest.mark.parametrize(
    "around",
    [
        "with no_grad():\n    optimizer.step()\n    fail()\n",
        "try:\n    optimizer.step()\n    fail()\nfinally:\n    done()\n",
        "try:\n    optimizer.step()\nexcept KeyError:\n    a()\n    fail()\n",
        "if ready:\n    optimizer.step()\nelse:\n    fail()\n",
        "match kind:\n    case 1:\n        optimizer.step()\n        fail()\n",
    ],
)
def test_it_goes_into_each_kind_of_statement_that_holds_a_step(around: str) -> None:
    line = 1 + around[: around.index("fail")].count("\n")
    lines = found(around, line)
    assert lines is not None
    assert lines[-1] == line


def test_lines_are_told_for_one_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    assert stretches.lines_in(str(one)) == frozenset()
    monkeypatch.setenv(stretches.VARIABLE, json.dumps([[str(one), 3], [str(other), 4], [str(one), 9]]))
    assert stretches.lines_in(str(one)) == {3, 9}
