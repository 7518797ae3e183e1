"""An evaluation builds graphs: gradients are switched off for its function, or around its loop.

Facts:

- ``file``, ``line`` and the columns: the call of the model in the evaluation.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.scopes import named
from firstcause.fix.statements import STEP, margin, newline_of
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "no-grad-missing-at-eval"
TRAINS = frozenset({"backward", "step", "zero_grad"})


def line(facts: Facts, project: Project) -> Site | None:
    """The call of the model."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """``no_grad`` on a function that trains nothing, else around the outermost loop or statement that trains nothing."""
    found = statement_of(facts, project)
    if found is None:
        return None
    module, statement = found
    torch, function = named(module, "torch"), module.function(statement)
    if torch is None:
        return None
    if isinstance(function, ast.FunctionDef) and not _trains(function) and not _yields(function):
        edits, where = [_decorated(module, function, f"@{torch}.no_grad()")], f"`{function.name}`"
    else:
        around = _around(module, statement, function)
        edits, where = _wrapped(module, around, f"with {torch}.no_grad():"), f"line {around.lineno}"
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Switch gradients off for the evaluation, at {where} around {site}.",
        "What the model gives there has no graph; its values are the same.",
        "It does not reduce the memory of training, and eval() is still needed for dropout and BatchNorm.",
    )


def _trains(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in TRAINS for n in ast.walk(node))


def _yields(node: ast.AST) -> bool:
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node))


def _around(module: Module, statement: ast.stmt, function: ast.AST | None) -> ast.stmt:
    """The outermost statement around, within the function, that trains nothing."""
    outer = statement
    for above in module.ancestors(statement):
        if above is function or isinstance(above, ast.Module) or _trains(above):
            break
        if isinstance(above, ast.stmt):
            outer = above
    return outer


def _decorated(module: Module, function: ast.FunctionDef, text: str) -> Edit:
    place = (function.lineno, 0)
    # Beneath the others: a static or class method stays the outermost.
    return Edit(module.path, place, place, f"{margin(module, function)}{text}{newline_of(module)}")


def _wrapped(module: Module, statement: ast.stmt, text: str) -> list[Edit]:
    end = statement.end_lineno or statement.lineno
    inside = {
        n
        for s in ast.walk(statement)
        if isinstance(s, (ast.Constant, ast.JoinedStr)) and s.end_lineno and s.end_lineno > s.lineno
        for n in range(s.lineno + 1, s.end_lineno + 1)
    }
    head = f"{margin(module, statement)}{text}{newline_of(module)}{STEP}"
    edits = [Edit(module.path, (statement.lineno, 0), (statement.lineno, 0), head)]
    for number in range(statement.lineno + 1, end + 1):
        # Lines of a text in quotes are its own.
        if number not in inside and module.lines[number - 1].strip():
            edits.append(Edit(module.path, (number, 0), (number, 0), STEP))
    return edits
