"""Where an optimizer is to be made anew that another method, or a later turn of a loop, leaves with what was replaced."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from firstcause.source import Module

SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def remade_after(
    module: Module, made: ast.stmt, replaces: Callable[[ast.stmt], bool]
) -> tuple[ast.stmt, bool] | None:
    """The one statement after which it belongs, and whether its own text can stand there; None where it is in doubt.

    The statement is in another method of the class that keeps the optimizer, or deeper in the function that makes it.
    """
    if not isinstance(made, ast.Assign) or len(made.targets) != 1:
        return None
    function, holder, target = module.function(made), module.method_class(made), made.targets[0]
    is_kept = isinstance(target, ast.Attribute) and module.segment(target.value) == "self"
    if is_kept and holder is not None:
        scope: ast.AST = holder
    elif isinstance(target, ast.Name):
        scope = function or module.tree
    else:
        return None
    found = [
        s
        for s in module.inside(scope, *SIMPLE)
        if isinstance(s, ast.stmt) and s is not made and replaces(s) and _is_later(module, s, made, is_kept)
    ]
    if len(found) != 1 or not (is_kept or module.function(found[0]) is function):
        return None
    return found[0], not is_kept or not _locals(module, made)


def _is_later(module: Module, one: ast.stmt, made: ast.stmt, is_kept: bool) -> bool:
    function = module.function(one)
    if function is module.function(made):
        return one.lineno > made.lineno
    return is_kept and isinstance(function, ast.FunctionDef) and function.name != "__init__"


def _locals(module: Module, made: ast.Assign) -> set[str]:
    """The names of the statement that mean something in its own method only."""
    top = {n for s in module.tree.body for n in _bound(s)}
    used = {n.id for n in ast.walk(made.value) if isinstance(n, ast.Name)}
    own = {n.id for n in ast.walk(made.value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return used - own - top - {"self"} - set(dir(builtins))


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of the file itself gives a meaning."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in statement.names}
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
