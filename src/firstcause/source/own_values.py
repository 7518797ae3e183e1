"""Functions that make rows and targets of one series, and the readings in them that may hold the target."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.source.module import Module
from firstcause.source.project import Project

MODULES = frozenset({"torch", "np", "numpy", "pd", "math"})
MOST_READINGS = 4


@dataclass(frozen=True, eq=False)
class Reading:
    """A subscript of the series or of what is made of it, its statement, and the index one place earlier."""

    statement: ast.stmt
    index: ast.expr
    earlier: str


@dataclass(frozen=True, eq=False)
class Series:
    """The name whose values are the targets, the statement before or behind which it is known, and what reads it."""

    module: Module
    name: str
    statement: ast.stmt
    before: bool
    readings: tuple[Reading, ...]


def series(project: Project) -> list[Series]:
    """One for each function that returns rows and targets, where one series gives the targets."""
    return [s for m in project.modules for f in m.nodes(ast.FunctionDef) if (s := _of(m, f)) is not None]


def _of(module: Module, function: ast.FunctionDef) -> Series | None:
    returned = [r.value for r in module.inside(function, ast.Return) if module.function(r) is function]
    if len(returned) != 1 or not isinstance(returned[0], ast.Tuple) or len(returned[0].elts) != 2:
        return None
    targets = {t for n in _names(returned[0].elts[1]) for t in _given(module, function, n)}
    names = {t.value.id for t in targets if isinstance(t.value, ast.Name)}
    name = next(iter(names)) if len(names) == 1 else None
    known = _known(module, function, name) if name is not None else None
    if name is None or known is None:
        return None
    made = _made(module, function, name)
    readings = [
        Reading(statement, one.slice, _earlier(module, one.slice))
        for one in module.inside(function, ast.Subscript)
        if one not in targets
        and isinstance(one.value, ast.Name)
        and one.value.id in made | {name}
        and isinstance(one.ctx, ast.Load)
        and _is_moving(one.slice)
        and (statement := module.statement(one)) is not None
        and isinstance(statement, (ast.Assign, ast.Expr))
    ]
    # What is made of the series first: a slice of the series itself shows its end.
    readings.sort(key=lambda r: _is_of(r, name))
    return Series(module, name, known[0], known[1], tuple(readings[:MOST_READINGS])) if readings else None


def _is_of(reading: Reading, name: str) -> bool:
    parts = (
        n for n in ast.walk(reading.statement) if isinstance(n, ast.Subscript) and n.slice is reading.index
    )
    return any(isinstance(n.value, ast.Name) and n.value.id == name for n in parts)


def _given(module: Module, function: ast.FunctionDef, name: str) -> Iterator[ast.Subscript]:
    """The subscripts that a list of targets is filled with, or that a name is given."""
    for call in module.inside(function, ast.Call):
        func, is_one = call.func, len(call.args) == 1
        held = func.value if isinstance(func, ast.Attribute) and func.attr == "append" and is_one else None
        if isinstance(held, ast.Name) and held.id == name:
            yield from _subscripts(call.args[0])
    for assign in module.inside(function, ast.Assign):
        if any(isinstance(t, ast.Name) and t.id == name for t in assign.targets):
            yield from _subscripts(assign.value)


def _subscripts(value: ast.expr) -> Iterator[ast.Subscript]:
    """The one subscript that a value is, without conversions such as ``.item()``."""
    while isinstance(value, (ast.Call, ast.Attribute)):
        if isinstance(value, ast.Attribute):
            value = value.value
        else:
            alone = isinstance(value.func, ast.Name) and len(value.args) == 1
            value = value.args[0] if alone else value.func
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
        yield value


def _known(module: Module, function: ast.FunctionDef, name: str) -> tuple[ast.stmt, bool] | None:
    """The statement before which (an argument) or behind which the series has its values."""
    assigns = [
        a
        for a in module.inside(function, ast.Assign)
        if any(isinstance(t, ast.Name) and t.id == name for t in a.targets)
    ]
    if len(assigns) == 1:
        return assigns[0], False
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    is_argument = name in {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    return (body[0], True) if is_argument and not assigns and body else None


def _made(module: Module, function: ast.FunctionDef, name: str) -> set[str]:
    """The names that are made of the series."""
    made: set[str] = set()
    for assign in module.inside(function, ast.Assign):
        if _names(assign.value) & (made | {name}):
            made |= {t.id for t in assign.targets if isinstance(t, ast.Name)}
    return made


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - MODULES


def _is_moving(index: ast.expr) -> bool:
    """Whether an index is a place that moves on, or a slice between two such places."""
    if isinstance(index, ast.Slice):
        ends = (index.lower, index.upper)
        return index.step is None and all(e is not None and bool(_names(e)) for e in ends)
    return isinstance(index, (ast.Name, ast.BinOp)) and bool(_names(index))


def _earlier(module: Module, index: ast.expr) -> str:
    if isinstance(index, ast.Slice):
        assert index.lower is not None
        assert index.upper is not None
        return f"{_one_less(module, index.lower)}:{_one_less(module, index.upper)}"
    return _one_less(module, index)


def _one_less(module: Module, place: ast.expr) -> str:
    added = place.right if isinstance(place, ast.BinOp) and isinstance(place.op, ast.Add) else None
    if isinstance(place, ast.BinOp) and isinstance(added, ast.Constant) and added.value == 1:
        return module.segment(place.left)
    return f"{module.segment(place)} - 1"
