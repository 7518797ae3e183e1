"""Parameters without a gradient under DistributedDataParallel: it is told to look for them in each step.

Facts:

- ``file``, ``line`` and the columns: the call that wraps the model.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.feeds import last_name

CAUSE = "ddp-unused-parameters"
KEYWORD = "find_unused_parameters"


def line(facts: Facts, project: Project) -> Site | None:
    """The call that wraps the model."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The keyword on that call; None where the line holds no such call, or several."""
    module = module_of(facts, project)
    if module is None:
        return None
    calls = [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call)]
    place = facts.get("column"), facts.get("end_line"), facts.get("end_column")
    exact = [c for c in calls if (c.col_offset, c.end_lineno, c.end_col_offset) == place]
    wraps = exact or [c for c in calls if last_name(c.func) in ("DDP", "DistributedDataParallel")]
    if len(wraps) != 1:
        return None
    call = wraps[0]
    given = next((k.value for k in call.keywords if k.arg == KEYWORD), None)
    edit = (
        replaced(module, given, "True")
        if given is not None
        else added_keyword(module, call, f"{KEYWORD}=True")
    )
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Let DistributedDataParallel look for parameters without a gradient in each step, at {module.site(call)}.",
        "Each forward walks the graph once more; unused parameters count as ready.",
        "A part of the model that was meant to be used and is not.",
    )
