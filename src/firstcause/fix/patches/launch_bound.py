"""launch-bound: all samples go through the model at once; its facts are those of ``fix/element_loops``."""

from __future__ import annotations

from firstcause.fix import element_loops
from firstcause.fix.operations import Facts
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "launch-bound"


def line(facts: Facts, project: Project) -> Site | None:
    """The loop that calls the model for one sample after the other."""
    return element_loops.line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The loop as one mapped call, as it was measured."""
    return element_loops.patch(CAUSE, facts, project, root)
