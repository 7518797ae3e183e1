"""A schedule that is stepped before the optimizer: its step moves to the end of the block that it stands in.

Facts:

- ``call``: the place that steps the schedule.
"""

from __future__ import annotations

import ast

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.statements import inserted_line_after, inserted_line_before, later_in_block, removed
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "scheduler-before-optimizer"
LEAVES = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def line(facts: Facts, project: Project) -> Site | None:
    """The line that steps the schedule."""
    found = statement_of(facts.get("call"), project)
    return found[0].site(found[1]) if found is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The statement after all others of its block; None where it is more than a call, or nothing follows it there."""
    found = statement_of(facts.get("call"), project)
    if found is None or not isinstance(found[1], ast.Expr):
        return None
    module, statement = found
    last = _last(module, statement)
    if last is None:
        return None
    text, site = module.segment(statement), module.site(statement)
    insert = inserted_line_before if isinstance(last, LEAVES) else inserted_line_after
    gone, moved = removed(module, statement), insert(module, last, text)
    if gone is None or moved is None:
        return None
    return draft(
        project,
        root,
        CAUSE,
        [gone, moved],
        f"Call `{text}` at the end, after the optimizer's steps, instead of at {site}.",
        f"{site}: each rate of the schedule is used from its start on, the first one included.",
        "A schedule on another clock than it was made for.",
    )


def _last(module: Module, statement: ast.stmt) -> ast.stmt | None:
    """The last statement of the block, where the optimizer can have stepped between the two."""
    after = later_in_block(module, statement)
    works = any(isinstance(n, ast.Call) for s in after for n in ast.walk(s))
    return after[-1] if works else None
