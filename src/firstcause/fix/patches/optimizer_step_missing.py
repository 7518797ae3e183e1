"""No step follows backward: the optimizer's ``step()`` is called.

Facts:

- ``backward``: the place of the backward call.
- ``clears``: the places that clear gradients.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import calls_in, scope_of, statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.rewrite import inserted_after, replaced
from firstcause.fix.statements import inserted_line_after
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.other_steps import step_of_another

CAUSE = "optimizer-step-missing"


def line(facts: Facts, project: Project) -> Site | None:
    """``optimizer.step`` without its brackets, or a step that is never reached; else the backward call."""
    found = _named_only(project) or step_of_another(project) or _unreached(facts, project)
    return found[0].site(found[1]) if found is not None else named_line(facts.get("backward") or {}, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The missing brackets, or a step after backward of the optimizer that is cleared beside it."""
    named = _named_only(project)
    if named is not None:
        module, node = named
        return _draft(project, root, module, node, [inserted_after(module, node, "()")], module.segment(node))
    other = step_of_another(project)
    if other is not None:
        module, stepped, meant = other
        return _draft(project, root, module, stepped, [replaced(module, stepped, meant)], f"{meant}.step")
    backward = statement_of(facts.get("backward"), project)
    if backward is None or _unreached(facts, project) is not None:
        return None
    module, statement = backward
    optimizer = _cleared_beside(module, statement) or _made_beside(module, statement)
    edit = inserted_line_after(module, statement, f"{optimizer}.step()") if optimizer else None
    return _draft(project, root, module, statement, [edit], f"{optimizer}.step") if edit else None


def _draft(
    project: Project, root: str, module: Module, node: ast.AST, edits: list[Edit], step: str
) -> Fix | None:
    site = module.site(node)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Call `{step}()` at {site}: no optimizer moves the parameters that backward has gradients for.",
        f"{site}: the parameters change at each step; what was logged as training was none.",
        "A schedule that has run already, and a learning rate that was never tried.",
    )


def _named_only(project: Project) -> tuple[Module, ast.expr] | None:
    """A statement that names ``x.step`` and does not call it."""
    for module in project.modules:
        for node in module.nodes(ast.Expr):
            if isinstance(node.value, ast.Attribute) and node.value.attr == "step":
                return module, node.value
    return None


def _unreached(facts: Facts, project: Project) -> tuple[Module, ast.stmt] | None:
    """A step of the optimizer that is cleared, behind a test that was never true."""
    cleared = [c for c in (statement_of(p, project) for p in facts.get("clears") or []) if c is not None]
    names = {_last(m, c) for m, s in cleared for c in calls_in(m, s, "zero_grad")}
    for module in project.modules:
        for call in calls_in(module, module.tree, "step"):
            statement = module.statement(call)
            tested = any(isinstance(a, ast.If) for a in module.ancestors(call))
            if statement is not None and tested and _last(module, call) in names:
                return module, statement
    return None


def _cleared_beside(module: Module, statement: ast.stmt) -> str | None:
    assert isinstance(statement, ast.stmt)
    calls = calls_in(module, scope_of(module, statement), "zero_grad")
    names = {module.segment(c.func.value) for c in calls if isinstance(c.func, ast.Attribute)}
    names = {n for n in names if "opt" in n.lower()} or names
    return next(iter(names)) if len(names) == 1 else None


def _made_beside(module: Module, statement: ast.stmt) -> str | None:
    """The name that an optimizer of torch is bound to in the same function."""
    names = {
        module.segment(n.targets[0])
        for n in ast.walk(scope_of(module, statement))
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and "optim." in module.segment(n.value)
    }
    names = {n for n in names if "sched" not in n.lower()}
    return next(iter(names)) if len(names) == 1 else None


def _last(module: Module, call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    return module.segment(call.func.value).rpartition(".")[2]
