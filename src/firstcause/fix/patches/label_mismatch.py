"""Inputs and targets part at a statement: it is written so that both stay together.

Facts:

- ``file``, ``line``: the statement.
- ``edits``: the statements to write otherwise, each with ``file``, ``line``, ``column``, ``last`` and its ``text``.
"""

from __future__ import annotations

from typing import Any

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.fix.statements import alone, indent_of, newline_of
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.pieces import Piece, located

CAUSE = "label-mismatch"


def line(facts: Facts, project: Project) -> Site | None:
    """The statement after which they are in different orders."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """What was tried; None where a statement shares its line with another one."""
    site = line(facts, project)
    edits = [_edit(one, project) for one in facts.get("edits") or ()]
    whole = [e for e in edits if e is not None]
    if site is None or not whole or len(whole) < len(edits):
        return None
    return draft(
        project,
        root,
        CAUSE,
        whole,
        f"Keep inputs and targets together at {site}.",
        "Targets of many samples change; results from before are void.",
        "Targets that are wrong in the source.",
    )


def _edit(one: dict[str, Any], project: Project) -> Edit | None:
    module = project.module(one["file"])
    found = located(module.tree, Piece.of(one)) if module is not None else None
    if module is None or found is None:
        return None
    statement = found[0][found[1]]
    indent = indent_of(module, statement)
    if indent is None or not alone(module, statement):
        return None
    # Later lines of the statement keep the indentation that they had.
    rows = [row if row[:1].isspace() else indent + row for row in one["text"].splitlines()]
    text = "".join(row + newline_of(module) for row in rows)
    return Edit(module.path, (statement.lineno, 0), ((statement.end_lineno or statement.lineno) + 1, 0), text)
