"""Weights that begin equal, or on no fitting scale: another start (facts in ``fix/starts``)."""

from __future__ import annotations

from firstcause.fix import starts
from firstcause.fix.operations import Facts
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "bad-initialisation"


def line(facts: Facts, project: Project) -> Site | None:
    """What makes the start as it is."""
    return starts.line(CAUSE, facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The change that an arm has proven alone."""
    return starts.patch(CAUSE, facts, project, root)
