"""Gradients of earlier steps stay: ``optimizer.zero_grad()`` follows the step that has used them.

Facts:

- ``step``, ``backward``: the places of the step and of the backward call.
- ``misplaced``: the place of the only clearing that the program has; empty where it has none or several.
"""

from __future__ import annotations

from firstcause.fix.clearing import optimizer_of, statement_of
from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.statements import inserted_line_after
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "missing-zero-grad"


def line(facts: Facts, project: Project) -> Site | None:
    """The clearing that comes too seldom; the backward call where there is none."""
    places = (facts.get(k) for k in ("misplaced", "backward", "step"))
    return next((site for p in places if p and (site := named_line(p, project)) is not None), None)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Clear right after the step, in its block, so that accumulation before it stays as it is."""
    found = statement_of(facts.get("step"), project)
    optimizer = optimizer_of(*found) if found is not None else None
    edit = inserted_line_after(*found, f"{optimizer}.zero_grad()") if found and optimizer else None
    if found is None or edit is None:
        return None
    site = found[0].site(found[1])
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Call `{optimizer}.zero_grad()` after the step at {site}.",
        f"{site}: each step uses the gradients since the step before alone.",
        "A learning rate that was tuned around the sum of all gradients may be too low now.",
    )
