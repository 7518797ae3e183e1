"""Two shapes that broadcast to a larger one: the operand gets its partner's shape, where only one way passes.

Facts:

- ``file``, ``line``, ``column``: the operation; ``function`` its name.
- ``operand``: 0 or 1, the one that passes with another shape; ``shape`` its own, ``other`` its partner's.
- ``only``: True where no other operand passes; ``also`` the facts of further places that need the same.
"""

from __future__ import annotations

from firstcause.fix.alignments import patch_of_alignment
from firstcause.fix.operations import Facts, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "silent-broadcast"


def line(facts: Facts, project: Project) -> Site | None:
    """The line where the two shapes meet."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """One shape for both; None where more than one way passes."""
    return patch_of_alignment(CAUSE, facts, project, root)
