"""Gradients are cleared between backward and step: the clearing goes in front of backward.

Facts:

- ``cleared_at``: the place that clears, where it is a call of ``zero_grad``.
- ``backward``, ``step``: the places of the backward call and of the step.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import optimizer_of, scope_of, statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.statements import inserted_line_after, inserted_line_before, removed
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "zero-grad-before-step"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that clears; the step where that is not known."""
    places = (facts.get(k) for k in ("cleared_at", "step"))
    return next((site for p in places if p and (site := named_line(p, project)) is not None), None)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Move the clearing before backward where both stand in one function, else after the step."""
    cleared, backward, step = (
        statement_of(facts.get(k), project) for k in ("cleared_at", "backward", "step")
    )
    if cleared is None or step is None:
        return None
    module, statement = cleared
    if not isinstance(statement, ast.Expr):
        return None
    same = backward is not None and backward[0] is module
    if backward is not None and same and scope_of(module, backward[1]) is scope_of(module, statement):
        moved = inserted_line_before(module, backward[1], module.segment(statement))
        where = f"before {module.site(backward[1])}"
    else:
        optimizer = optimizer_of(*step)
        moved = inserted_line_after(*step, f"{optimizer}.zero_grad()") if optimizer else None
        where = f"after the step at {step[0].site(step[1])}"
    gone = removed(module, statement)
    if moved is None or gone is None:
        return None
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        [gone, moved],
        f"Clear gradients {where} instead of at {site}, between backward and step.",
        f"{site}: the optimizer steps with the gradients that backward has computed.",
        "A learning rate that was raised because nothing moved may be too high now.",
    )
