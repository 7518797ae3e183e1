"""The statements that put something into what a name holds: calls of its methods, stores by subscript, running totals."""

from __future__ import annotations

import ast

from firstcause.source.module import Module

FEEDING = frozenset({"append", "appendleft", "extend", "insert", "add", "setdefault", "update", "put"})
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def feeds(module: Module, name: str) -> list[ast.stmt]:
    """In the order of the text; only those that can run more than once, if there are such."""
    found = [s for s in module.nodes(ast.Expr, ast.AugAssign, ast.Assign) if _feeds(s, name)]
    found.sort(key=lambda s: (s.lineno, s.col_offset))
    again = [s for s in found if _runs_again(module, s)]
    return again or found


def last_name(node: ast.AST) -> str | None:
    """The last name of ``a.b[i].c[j]`` that is not a subscript: ``c``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _feeds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        return (
            isinstance(called, ast.Attribute) and called.attr in FEEDING and last_name(called.value) == name
        )
    if isinstance(statement, ast.AugAssign):
        return last_name(statement.target) == name
    if isinstance(statement, ast.Assign):
        targets = [e for t in statement.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
        stored = any(isinstance(t, ast.Subscript) and last_name(t) == name for t in targets)
        return stored or (any(last_name(t) == name for t in targets) and _reads(statement.value, name))
    return False


def _reads(value: ast.expr, name: str) -> bool:
    """Whether the new value is made from the old one, as a running total is."""
    return any(last_name(n) == name for n in ast.walk(value) if isinstance(n, (ast.Name, ast.Attribute)))


def _runs_again(module: Module, statement: ast.stmt) -> bool:
    around = module.ancestors(statement)
    return any(isinstance(a, (*LOOPS, ast.FunctionDef, ast.AsyncFunctionDef)) for a in around)
