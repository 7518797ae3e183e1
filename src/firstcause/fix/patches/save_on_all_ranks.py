"""One file that every rank writes: rank 0 writes it, and the others wait where one of them reads it.

Facts:

- ``file``, ``line``: the statement that writes.
- ``read``: whether the file is read again in the same run.
"""

from __future__ import annotations

from firstcause.fix.clearing import statement_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.scopes import named
from firstcause.fix.statements import STEP, alone, indent_of, written
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "save-on-all-ranks"


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that writes."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The statement beneath a test for rank 0; None where it shares its line, or the file does not name torch."""
    found = statement_of(facts, project)
    if found is None:
        return None
    module, statement = found
    dist, indent = named(module, "torch.distributed"), indent_of(module, statement)
    if dist is None or indent is None or not alone(module, statement):
        return None
    text = f"{indent}if {dist}.get_rank() == 0:\n{written(module, statement, indent + STEP)}"
    if facts.get("read"):
        text += f"{indent}{dist}.barrier()\n"
    end = ((statement.end_lineno or statement.lineno) + 1, 0)
    return draft(
        project,
        root,
        CAUSE,
        [Edit(module.path, (statement.lineno, 0), end, text)],
        f"Let rank 0 alone write the file, at {module.site(statement)}.",
        "The file is written once; the other ranks go on without it.",
        "State that differs between the ranks: it needs a file for each.",
    )
