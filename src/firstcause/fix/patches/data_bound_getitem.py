"""data-bound-getitem: the work is done once for each input; its facts are those of ``fix/repeated_work``."""

from __future__ import annotations

from firstcause.fix import repeated_work
from firstcause.fix.operations import Facts
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "data-bound-getitem"


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that does the work again."""
    return repeated_work.line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Keep what it gives; None where an input cannot be a key."""
    return repeated_work.patch(CAUSE, facts, project, root)
