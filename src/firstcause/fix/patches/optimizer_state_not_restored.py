"""A checkpoint without the optimizer's state: saved with the weights, and loaded after them.

Facts: those of ``fix/checkpoints``.
"""

from __future__ import annotations

from firstcause.fix import rosters
from firstcause.fix.kept_states import kept
from firstcause.fix.operations import Facts
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "optimizer-state-not-restored"
OTHER = "A schedule, a gradient scaler and random generators that are not in the file either."


def line(facts: Facts, project: Project) -> Site | None:
    """The dict that is saved without it, or the load that leaves it out."""
    return rosters.line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """One entry more in the file, and one statement more at the load; None where it has no name at one of them."""
    given = (facts, project, root, CAUSE, "optimizer", OTHER)
    return rosters.entered(*given) or kept(*given)
