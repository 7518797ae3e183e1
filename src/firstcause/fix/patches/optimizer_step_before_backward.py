"""Weights change between a forward and its backward: what is computed from the old weights is computed again.

Facts:

- ``step``: the place (file, line) where the optimizer stepped, or where the weights were written by hand.
- ``stale``: the place after it that still works with what was computed before; may be empty.
- ``backward``: the place of the backward call that failed.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import replaced
from firstcause.fix.scopes import statement_at
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "optimizer-step-before-backward"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that uses, after the step, what was computed before it; else the line of the step."""
    for place in (facts.get("stale"), facts.get("step")):
        if place and module_of(place, project) is not None:
            return named_line(place, project)
    return None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Compute the stale value again where it is used; None where more than one expression would have to move."""
    stale, step = facts.get("stale"), facts.get("step")
    module = module_of(stale, project) if stale else None
    used = statement_at(module, stale) if module is not None and stale else None
    stepped = statement_at(module, step) if module is not None and step else None
    if module is None or used is None or stepped is None or module_of(step or {}, project) is not module:
        return None
    function = module.function(used)
    if function is None or module.function(stepped) is not function or not stepped.lineno < used.lineno:
        return None
    found = [
        (name, value)
        for name in ast.walk(used)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
        if (value := _computed_before(module, function, name, stepped)) is not None
    ]
    if len(found) != 1:
        return None
    name, value = found[0]
    again = module.segment(value)
    site = module.site(used)
    edits: list[Edit] = [replaced(module, name, again)]
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Compute `{again}` again at {site}, with the weights after {module.site(stepped)}.",
        f"{site}: `{name.id}` is computed anew instead of taken from before the step; one more forward a step.",
        "Gradients that the first backward leaves in the other network: clear them before its own step.",
    )


def _computed_before(module: Module, function: ast.AST, name: ast.Name, stepped: ast.stmt) -> ast.Call | None:
    """The call that a name was bound to before the step, once, from names that stay what they are."""
    bound = [
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name.id for t in n.targets)
    ]
    if len(bound) != 1 or len(_stores(function, name.id)) != 1:
        return None
    (statement,) = bound
    value = statement.value
    if len(statement.targets) != 1 or not isinstance(value, ast.Call) or statement.lineno >= stepped.lineno:
        return None
    # A plain function of tensors has no weights to be stale in.
    if not isinstance(value.func, (ast.Attribute, ast.Name)) or not value.args:
        return None
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    later = [s for n in names for s in _stores(function, n) if s.lineno > statement.lineno]
    return None if later else value


def _stores(function: ast.AST, name: str) -> list[ast.Name]:
    return [
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
