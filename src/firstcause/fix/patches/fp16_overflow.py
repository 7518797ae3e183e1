"""An op in float16 whose result is beyond 65504: its line is named, not patched.

Where to scale, or which op to take out of half precision, is a choice about the model's numbers.

Facts: ``file``, ``line``: the user's line of the op.
"""

from __future__ import annotations

from firstcause.fix.operations import Facts, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "fp16-overflow"


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the op that passes the range."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """None: under autocast a cast at this line may be undone by the op itself."""
    return None
