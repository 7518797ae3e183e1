"""State that is written under no_grad on purpose, and was saved before: the op that saved it reads a copy instead."""

from __future__ import annotations

import ast

from firstcause.fix.edits import Edit
from firstcause.fix.rewrite import called
from firstcause.source import Module


def copied_where_saved(module: Module, write: ast.stmt, saved_at: int) -> list[Edit]:
    """Copies of what the write changes, in the statement at line ``saved_at`` of the same class; else no edit.

    Only where that statement reads it once: two reads leave open which of them was saved.
    """
    target = _written(write)
    if target is None or _home(module, write, target) is None:
        return []
    wanted = ast.unparse(target)
    reads = [
        n
        for n in module.nodes_on(saved_at)
        if isinstance(n, type(target))
        and isinstance(n, ast.expr)
        and isinstance(getattr(n, "ctx", None), ast.Load)
        and ast.unparse(n) == wanted
    ]
    if len(reads) != 1 or _home(module, reads[0], target) is not _home(module, write, target):
        return []
    return called(module, reads[0], ".clone()")


def _written(statement: ast.stmt) -> ast.expr | None:
    """``x`` of ``x[...] = y``, ``x += y``, ``x[...] *= y`` and ``x.copy_(y)``."""
    found: ast.expr | None = None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        found = statement.targets[0] if isinstance(statement.targets[0], ast.Subscript) else None
    elif isinstance(statement, ast.AugAssign):
        found = statement.target
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        is_write = isinstance(function, ast.Attribute) and function.attr.endswith("_")
        found = function.value if is_write and isinstance(function, ast.Attribute) else None
    while isinstance(found, ast.Subscript):
        found = found.value
    return found if isinstance(found, (ast.Name, ast.Attribute)) else None


def _home(module: Module, node: ast.AST, target: ast.expr) -> ast.AST | None:
    """Where the target's name means one thing: the class for ``self.x``, the function or file for another name."""
    root: ast.expr = target
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return None
    if root.id == "self":
        return next((p for p in module.ancestors(node) if isinstance(p, ast.ClassDef)), None)
    return module.function(node) or module.tree
