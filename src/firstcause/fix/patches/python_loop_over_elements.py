"""python-loop-over-elements: the loop written otherwise; its facts are those of ``fix/element_loops``."""

from __future__ import annotations

from firstcause.fix import element_loops
from firstcause.fix.operations import Facts
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "python-loop-over-elements"


def line(facts: Facts, project: Project) -> Site | None:
    """The innermost loop around the hot line."""
    return element_loops.line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """All elements at once, or plain numbers, as it was measured."""
    return element_loops.patch(CAUSE, facts, project, root)
