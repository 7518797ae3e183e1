"""Statements that sort a table by one of its columns, and the columns that a value reads."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.pairing.pairs import name_of

MODULES = frozenset({"torch", "np", "numpy", "pd", "pandas", "F", "math"})


@dataclass(frozen=True, eq=False)
class Sorted:
    """The statement that sorts a table by a key or takes the order of one, and how another table is sorted so.

    ``order`` is the text by which its rows are taken; ``whole`` says that the table itself is sorted.
    """

    statement: ast.Assign | ast.Expr
    table: str
    order: str
    whole: bool


def sorted_by(module: Module, statement: ast.Assign | ast.Expr) -> Sorted | None:
    """A statement that sorts a table by one of its columns, or that gives a name to the order of one."""
    call = statement.value
    if not isinstance(call, ast.Call):
        return None
    last, func = last_name(call.func), call.func
    target = name_of(statement.targets[0]) if isinstance(statement, ast.Assign) else None
    if last == "argsort":
        key = call.args[0] if name_of(getattr(func, "value", func)) in MODULES and call.args else None
        key = key if key is not None else getattr(func, "value", None)
        table = _table(key) if key is not None else None
        return Sorted(statement, table, target, False) if table and target else None
    by_key = bool(call.args if last == "sort_values" else [k for k in call.keywords if k.arg == "key"])
    by_key = by_key or any(k.arg == "by" for k in call.keywords)
    if last in ("sort_values", "sort") and isinstance(func, ast.Attribute) and by_key:
        table = name_of(func.value)
        in_place = isinstance(statement, ast.Expr)
        return Sorted(statement, table, "", True) if table and (in_place or target == table) else None
    if last == "sorted" and by_key and call.args:
        table = name_of(call.args[0])
        return Sorted(statement, table, "", True) if table and target == table else None
    return None


def _table(node: ast.expr) -> str | None:
    """The table whose column a key is, without what leaves rows out: ``meters`` of ``meters["id"][keep]``."""
    column = column_of(node)
    return name_of(column.value) if column is not None else None


def column_of(node: ast.expr) -> ast.Subscript | ast.Attribute | None:
    """The column that a key begins with: of a name, by a text or an attribute."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and name_of(node.value):
            return node if isinstance(node.slice.value, str) else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node if node.value.id not in MODULES | {"self"} else None
        node = node.func if isinstance(node, ast.Call) else node.value
    return None


def columns_of(value: ast.expr, table: str) -> list[ast.expr]:
    """The columns of a table that a value reads."""
    return [
        n
        for n in ast.walk(value)
        if isinstance(n, (ast.Subscript, ast.Attribute)) and column_of(n) is n and name_of(n.value) == table
    ]


def rows_read(value: ast.expr, table: str) -> bool:
    """Whether a value is made of a table's columns, or of its rows one by one."""
    loops = (c.iter for c in ast.walk(value) if isinstance(c, ast.comprehension))
    return bool(columns_of(value, table)) or any(name_of(one) == table for one in loops)


def is_same_column(one: ast.expr, other: ast.expr) -> bool:
    """Whether two columns have one name, be it of two tables."""
    return _name(one) == _name(other)


def _name(column: ast.expr) -> object:
    if isinstance(column, ast.Subscript):
        return column.slice.value if isinstance(column.slice, ast.Constant) else None
    return getattr(column, "attr", None)


def renamed(module: Module, node: ast.AST, old: str, new: str) -> str:
    """The text of a node with another table in place of its own."""
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, module.segment(node))
