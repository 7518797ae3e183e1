"""float16 without loss scaling: the line that calls backward on the unscaled loss.

Facts:

- ``file``, ``line``: the line that calls backward.
"""

from __future__ import annotations

from firstcause.fix.operations import Facts, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "scaler-missing"


def line(facts: Facts, project: Project) -> Site | None:
    """The backward call."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """None: a scaler must be made before the loop, saved with checkpoints, and known to clipping; a person places it."""
    return None
