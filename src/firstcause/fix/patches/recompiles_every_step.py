"""recompiles-every-step: what is compiled anew in a loop is compiled once above it.

Facts:

- ``file``, ``line``: the call of ``torch.compile`` in a loop; else the line whose guard fails, or the call of what is compiled.
- ``gain``: how much faster the same steps were without compiling.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.keeping import hoisted
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.scopes import statement_at
from firstcause.fix.statements import starts_line
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "recompiles-every-step"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that makes it compile again."""
    return named_line(facts, project) if facts.get("file") else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Move the call of ``torch.compile`` above its loop; None where it takes what the loop makes, or a guard fails."""
    module, site = module_of(facts, project), line(facts, project)
    statement = statement_at(module, facts) if module is not None else None
    if (
        module is None
        or site is None
        or not isinstance(statement, ast.Assign)
        or not starts_line(module, statement)
    ):
        return None
    if "compile(" not in module.segment(statement):
        return None
    moved = hoisted(module, [statement])
    if moved is None:
        return None
    edits, where = moved
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Compile once, {where}, instead of in each pass of the loop at {site}.",
        "What is compiled is the same; it is traced and compiled once for each kind of input.",
        "Guards that fail for another reason: shapes, dtypes or Python numbers that change from step to step.",
    )
