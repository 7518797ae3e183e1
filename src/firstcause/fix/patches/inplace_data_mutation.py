"""A write into stored data: what is written to becomes a copy before.

Facts:

- ``file``, ``line``: the statement that writes; ``copy`` the method that copies, ``clone`` of a tensor, ``copy`` of an array.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "inplace-data-mutation"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that writes."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A copy on the line before; None where what is written to has no name of its own in the function."""
    found = statement_of(facts, project)
    if found is not None:
        found = found[0], _bound(*found)
    text = _copied(*found, str(facts.get("copy") or "clone")) if found is not None else None
    edit = inserted_line_before(*found, text) if found is not None and text is not None else None
    if found is None or edit is None:
        return None
    site = found[0].site(found[1])
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Copy before the write at {site}: `{text}`.",
        "Every epoch reads the data as they were stored; each copy costs some time.",
        "Data that were written back to a file, and models trained on what the writes left.",
    )


def _bound(module: Module, statement: ast.stmt) -> ast.stmt:
    """The statement that takes what is written to out of a dict which the function returns; else the one that writes."""
    target, function = _target(statement), module.function(statement)
    if not isinstance(target, ast.Name) or not isinstance(function, ast.FunctionDef):
        return statement
    bindings = [
        a
        for a in module.inside(function, ast.Assign)
        if any(isinstance(t, ast.Name) and t.id == target.id for t in a.targets)
    ]
    taken = bindings[0].value if len(bindings) == 1 else None
    if not isinstance(taken, ast.Subscript) or not _is_key(taken) or not isinstance(taken.value, ast.Name):
        return statement
    returned = [r.value for r in module.inside(function, ast.Return)]
    whole = all(isinstance(v, ast.Name) and v.id == taken.value.id for v in returned)
    return bindings[0] if returned and whole else statement


def _copied(module: Module, statement: ast.stmt, method: str) -> str | None:
    target = _target(statement)
    while isinstance(target, ast.Subscript) and not _is_key(target):
        target = target.value
    if isinstance(target, ast.Name):
        return f"{target.id} = {target.id}.{method}()"
    taken = statement.value if isinstance(statement, ast.Assign) and target is None else None
    if isinstance(taken, ast.Subscript) and _is_key(taken):
        target = taken
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        name, key, whole = target.value.id, module.segment(target.slice), module.segment(target)
        return f"{name} = {{**{name}, {key}: {whole}.{method}()}}"
    return None


def _is_key(node: ast.Subscript) -> bool:
    return isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)


def _target(statement: ast.stmt) -> ast.expr | None:
    """What a statement writes to: of an assignment its target, of a method its object, of a function its first argument."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return statement.targets[0]
    value = getattr(statement, "value", None)
    found: ast.expr | None = None
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr.endswith("_"):
            found = value.func.value
        elif found is None and value.args:
            found = value.args[0]
        value = value.func.value if isinstance(value.func, ast.Attribute) else None
    while isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute):
        found = found.func.value
    return found
