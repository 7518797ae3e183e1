"""Losses or outputs are kept with their graph: they are detached where they are kept.

Facts:

- ``site``: the place of the statement that feeds the holder, as it was seen; empty where it was not.
- ``file``, ``name``: the file of the holder and the last name of it, by which the statement is found in the source.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import called
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.feeds import feeds

CAUSE = "loss-history-keeps-graph"


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that keeps them."""
    found = kept_by(facts, project)
    return found[0].site(found[1]) if found is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Detach what is appended, stored or added; None where the statement keeps several things at once."""
    found = kept_by(facts, project)
    kept = _kept(found[1]) if found is not None else None
    if found is None or kept is None:
        return None
    module, statement = found
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        called(module, kept, ".detach()"),
        f"Detach `{module.segment(kept)}` where it is kept, at {site}.",
        f"{site} keeps the values and lets go of the graph of each step.",
        "What is kept can no longer be differentiated; it still takes the memory of its own values.",
    )


def kept_by(facts: Facts, project: Project) -> tuple[Module, ast.stmt] | None:
    """The statement that feeds the holder: where it was seen, else the only one in the source."""
    if facts.get("site"):
        return statement_of(facts["site"], project)
    module = project.module(str(facts.get("file")))
    found = feeds(module, str(facts.get("name"))) if module is not None else []
    return (module, found[0]) if module is not None and len(found) == 1 else None


def _kept(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        return call.args[-1] if call.args and not call.keywords and _is_one(call.args[-1]) else None
    if isinstance(statement, ast.AugAssign):
        return statement.value if _is_one(statement.value) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Subscript):
        return value if _is_one(value) else None
    sides = (
        (value.left, value.right) if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else ()
    )
    added = [side for side in sides if ast.unparse(side) != ast.unparse(target)]
    return added[0] if len(added) == 1 else None


def _is_one(value: ast.expr) -> bool:
    return not isinstance(value, (ast.Starred, ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.GeneratorExp))
