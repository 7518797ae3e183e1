"""What a line of the program writes in place and what it divides by."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
import torch

from firstcause.lab.statements import Statements, denominators

PROGRAM = """\
import torch
def scaled(table, spread):
    for i in range(3):
        table[i, 0] = 1.0
    table /= (
        spread
    )
    table.clamp_(0)
    fill(table)
    with quiet():
        return table / spread
"""


@pytest.fixture
def lines(tmp_path: Path) -> tuple[Statements, str]:
    (tmp_path / "p.py").write_text(PROGRAM)
    return Statements(), str(tmp_path / "p.py")


def test_the_innermost_statement_of_a_line_and_nothing_for_heads(lines: tuple[Statements, str]) -> None:
    statements, path = lines

    assert isinstance(statements.at(path, 4), ast.Assign)
    assert isinstance(statements.at(path, 6), ast.AugAssign)
    assert statements.at(path, 3) is None
    assert statements.at(path, 10) is None
    assert isinstance(statements.at(path, 11), ast.Return)
    assert statements.at("missing.py", 1) is None


@pytest.mark.parametrize(
    ("line", "names"), [(4, {"table"}), (5, {"table"}), (8, {"table"}), (9, {"fill", "table"})]
)
def test_names_that_a_statement_may_change_in_place(
    line: int, names: set[str], lines: tuple[Statements, str]
) -> None:
    statements, path = lines

    assert statements.written(statements.at(path, line)) == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = a / b", [("b", 1, 3)]),
        ("x = (a - 1) / (b + b.std())", []),
        ("a /= b.sum()", []),
        ("x = torch.div(a, b)", [("b", 1, 3)]),
        ("x = a / 2", []),
        ("x = b.pow(-0.5)", [("b", 1, 3)]),
        ("x = torch.diag(b ** -1) @ a", [("b", 1, 3)]),
        ("x = torch.pow(b, -1.0)", [("b", 1, 3)]),
        ("x = torch.rsqrt(b) + b.reciprocal()", [("b", 1, 3), ("b", 1, 3)]),
        ("x = b.pow(2) + b ** 0.5 + torch.pow(b, 1)", []),
        ("x = b.clamp(1).pow(-0.5)", []),
        # What might act a second time is not asked again, and what cannot be computed says nothing.
        ("x = a / draw(b)", []),
        ("x = a / missing", []),
    ],
)
def test_denominators_that_hold_zeros(text: str, found: list[tuple[str, int, int]]) -> None:
    space: dict[str, Any] = {
        "torch": torch,
        "draw": lambda b: b,
        "a": torch.ones(3),
        "b": torch.tensor([2.0, 0.0, 1.0]),
    }

    seen = denominators(ast.parse(text).body[0], space, {})

    assert [(s["text"], s["zeros"], s["elements"]) for s in seen] == found


@pytest.mark.parametrize(
    ("values", "counts"), [([2.0, 0.0, 1.0], True), ([0.5, 0.0, 1.0], False), ([-1.0, 0.0, 1.0], False)]
)
def test_whether_a_denominator_counts(values: list[float], counts: bool) -> None:
    (found,) = denominators(ast.parse("x = 1 / b").body[0], {"b": torch.tensor(values)}, {})

    assert found.get("counts", False) is counts
