"""Gradient mode is off where the loss is computed: it is switched off for the evaluation alone.

Facts:

- ``switch``: the place (file, line) where the failing pass switched it off; empty where it was off before.
- ``decorator``: whether that place is a decorated function.
- ``around``: the places that were running around the pass, innermost first, each with ``decorator``.
"""

from __future__ import annotations

import ast

from firstcause.fix import gradient_switches as switches
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts
from firstcause.fix.statements import blocks_of
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "grad-mode-left-disabled"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that switches gradient mode off: a call, a with statement or a decorator."""
    found = _switch(facts, project)
    return found[0].site(found[1]) if found is not None else None


def _switch(facts: Facts, project: Project) -> switches.Place | None:
    switch = facts.get("switch")
    if switch:
        return switches.of_place(project, {**switch, "decorator": facts.get("decorator")})
    for place in facts.get("around") or []:
        module = project.module(str(place["file"]))
        if module is None:
            continue
        line_number = int(place["line"])
        node = (
            switches.decorator(module, line_number)
            if place.get("decorator")
            else switches.around(module, line_number)
        )
        if node is not None:
            return module, node
    return switches.left_off(project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Decorate the evaluating function instead of switching by hand, or take the decorator from the training function."""
    found = _switch(facts, project)
    if found is None:
        return None
    module, node = found
    function = module.parents.get(node) if not isinstance(node, (ast.With, ast.AsyncWith)) else None
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and node in function.decorator_list:
        return _undecorated(module, function, node, project, root)
    owner = module.function(node)
    if isinstance(node, ast.Call) and isinstance(owner, ast.FunctionDef):
        return _decorated(module, owner, node, project, root)
    return None


def _undecorated(
    module: Module,
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    node: ast.AST,
    project: Project,
    root: str,
) -> Fix | None:
    if not _calls_backward(function):
        return None
    number = getattr(node, "lineno", 0)
    return draft(
        project,
        root,
        CAUSE,
        [Edit(module.path, (number, 0), (number + 1, 0), "")],
        f"Take `@{module.segment(node)}` from `{function.name}`: it computes the loss and calls backward.",
        f"{module.site(function)}: `{function.name}` runs with gradient mode as its caller has it.",
        "Calls of this function for evaluation: they build a graph now, and belong under torch.no_grad().",
    )


def _decorated(
    module: Module, owner: ast.FunctionDef, node: ast.Call, project: Project, root: str
) -> Fix | None:
    calls = switches.switches_in(owner)
    statements = [module.statement(c) for c in calls]
    alone = all(isinstance(s, ast.Expr) and s.value is c for s, c in zip(statements, calls, strict=True))
    generator = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(owner))
    if _calls_backward(owner) or not calls or not alone or generator or not _blocks_stay(module, statements):
        return None
    edits = [Edit(module.path, (c.lineno, 0), ((c.end_lineno or c.lineno) + 1, 0), "") for c in calls]
    first = min([d.lineno for d in owner.decorator_list] + [owner.lineno])
    indent = module.lines[owner.lineno - 1][
        : len(module.lines[owner.lineno - 1]) - len(module.lines[owner.lineno - 1].lstrip())
    ]
    prefix = module.segment(node.func).rpartition(".")[0]
    if prefix != "torch" or any(len(module.lines[c.lineno - 1].split(";")) > 1 for c in calls):
        return None
    edits.append(Edit(module.path, (first, 0), (first, 0), f"{indent}@torch.no_grad()\n"))
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Run `{owner.name}` under @torch.no_grad(), which puts gradient mode back on every way out.",
        f"{module.site(owner)}: gradient mode is off inside of `{owner.name}` and, after it, what it was before.",
        "Other places that switch gradient mode by hand.",
    )


def _calls_backward(function: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in ast.walk(function))


def _blocks_stay(module: Module, statements: list[ast.stmt | None]) -> bool:
    """Whether no block is left empty when the statements go."""
    for statement in statements:
        parent = module.parents.get(statement) if statement is not None else None
        block = next((b for b in blocks_of(parent) if statement in b), [])
        if all(s in statements for s in block):
            return False
    return True
