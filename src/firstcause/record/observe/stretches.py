"""Statements around a failure that no unit of replay holds: marked in a second run, where the place is known.

The first run does not know where it will fail, and marks what leads to an optimizer's step only. A copy of the
program that is run again is told the lines of the traceback; there the longest run of statements around each of them
that leads to no step is a candidate of its own, and the outermost one that the exception leaves is replayed.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from firstcause.record.observe.live import own_nodes
from firstcause.record.observe.reach import names_called

VARIABLE = "FIRSTCAUSE_AROUND"
KIND = "stretch"
# A function that is no unit in this run, as file and line: what its arguments are made of is replayed with it.
PASSED_OVER = "FIRSTCAUSE_PASSED_OVER"
# Definitions and imports are not run twice; a docstring stays where it is.
APART = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
)  # fmt: skip
YIELDS = (ast.Yield, ast.YieldFrom)


class Stretch(NamedTuple):
    """Statements ``first`` to before ``last`` of one body."""

    body: list[ast.stmt]
    first: int
    last: int

    @property
    def statements(self) -> list[ast.stmt]:
        return self.body[self.first : self.last]


def lines_in(path: str) -> frozenset[int]:
    """The lines of a file that the traceback names; none where this process was told of no failure."""
    told = os.environ.get(VARIABLE)
    if not told:
        return frozenset()
    real = os.path.realpath(path)
    return frozenset(line for file, line in json.loads(told) if os.path.realpath(file) == real)


def is_passed_over(path: str, line: int) -> bool:
    """Whether the function at this line is to be no unit."""
    told = os.environ.get(PASSED_OVER)
    if not told:
        return False
    file, at = json.loads(told)
    return bool(line == at and os.path.realpath(file) == os.path.realpath(path))


def stretch_in(
    scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, lines: frozenset[int], steps: set[str]
) -> Stretch | None:
    """The longest run of a scope's statements around one of the lines that leads to no step, None where there is none."""
    if not lines or any(isinstance(n, YIELDS) for n in own_nodes(scope)):
        return None
    body = scope.body
    while True:
        # A definition that holds one of the lines is a scope of its own.
        at = next((i for i, s in enumerate(body) if _holds(s, lines) and not isinstance(s, APART)), None)
        if at is None:
            return None
        if not _leads(body[at], steps):
            break
        inner = [b for b in _bodies(body[at]) if any(_holds(s, lines) for s in b)]
        if not inner:
            return None
        body = inner[0]
    first, last = at, at + 1
    while first > 0 and not _stops(body[first - 1], steps):
        first -= 1
    while last < len(body) and not _stops(body[last], steps):
        last += 1
    return Stretch(body, first, last)


def _holds(statement: ast.stmt, lines: frozenset[int]) -> bool:
    return any(statement.lineno <= line <= (statement.end_lineno or statement.lineno) for line in lines)


def _leads(statement: ast.stmt, steps: set[str]) -> bool:
    return bool(names_called([statement]) & steps)


def _stops(statement: ast.stmt, steps: set[str]) -> bool:
    told = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return told or isinstance(statement, APART) or _leads(statement, steps)


def _bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The bodies of a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        if inner := getattr(statement, name, None):
            yield inner
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body
