"""GradScaler.update is not called: ``scaler.update()`` after ``scaler.step(optimizer)``.

Facts:

- ``file``, ``line``: the line that the scaler refused.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.scopes import method_calls, receiver, statement_at
from firstcause.fix.statements import inserted_line_after, removed
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "scaler-update-missing"


def line(facts: Facts, project: Project) -> Site | None:
    """The last step of the scaler in the iteration, after which the update belongs."""
    found = _step(facts, project)
    if found is not None:
        return found[0].site(found[1])
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The update after the last step; one that stands where not every iteration comes by is moved there."""
    found = _step(facts, project)
    if found is None:
        return None
    module, call, scaler = found
    statement = module.statement(call)
    others = [
        v
        for v in (module.statement(c) for c in ast.walk(module.tree) if _is_update(module, c, scaler))
        if v is not None
    ]
    if statement is None or len(others) > 1:
        return None
    edit = inserted_line_after(module, statement, f"{scaler}.update()")
    moved = [removed(module, _whole(module, others[0]))] if others else []
    if edit is None or None in moved:
        return None
    site = module.site(statement)
    old = f" The call at {module.site(others[0])}, which not every iteration reaches, goes." if others else ""
    return draft(
        project,
        root,
        CAUSE,
        [edit, *(m for m in moved if m is not None)],
        f"Call `{scaler}.update()` after {site}: it ends the scaler's iteration and adapts the scale.{old}",
        f"{site}: the next iteration may unscale and step again; after an overflow the scale is halved.",
        "Steps that are left out after an overflow stay left out; a learning-rate schedule may count them.",
    )


def _is_update(module: Module, node: ast.AST, scaler: str) -> bool:
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or node.func.attr != "update"
    ):
        return False
    # self.scaler in one method may be loop.scaler elsewhere: the last name tells.
    return receiver(module, node).rpartition(".")[2] == scaler.rpartition(".")[2]


def _whole(module: Module, statement: ast.stmt) -> ast.stmt:
    """The statement, or the test around it where there is nothing else beneath that."""
    parent = module.parents.get(statement)
    while isinstance(parent, ast.If) and len(parent.body) == 1 and not parent.orelse:
        statement, parent = parent, module.parents.get(parent)
    return statement


def _step(facts: Facts, project: Project) -> tuple[Module, ast.Call, str] | None:
    module = module_of(facts, project)
    statement = statement_at(module, facts) if module is not None else None
    if module is None or statement is None:
        return None
    calls = [c for c in method_calls(module, statement, "step") if c.args]
    refused = [
        c for c in ast.walk(statement) if isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute)
    ]
    scalers = {receiver(module, c) for c in method_calls(module, statement, "scale")} | {
        receiver(module, c)
        for c in refused
        if c.func.attr in ("step", "unscale_")  # type: ignore[attr-defined]
    }
    mine = [c for c in calls if receiver(module, c) in scalers]
    return (module, mine[-1], receiver(module, mine[-1])) if mine else None
