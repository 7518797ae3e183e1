"""Kept exceptions hold the frames of their tracebacks: they are kept without a traceback.

Facts:

- ``site``: the place of the statement that keeps them; ``file``, ``name``: the holder's, by which it is found otherwise.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.patches.loss_history_keeps_graph import kept_by
from firstcause.fix.rewrite import called
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.module import FUNCTIONS

CAUSE = "exception-keeps-frames-alive"


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that keeps them."""
    found = kept_by(facts, project)
    return found[0].site(found[1]) if found is not None else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Take the traceback off the exception where it is kept; None where the statement names no caught exception."""
    found = kept_by(facts, project)
    if found is None:
        return None
    module, statement = found
    caught = _caught(module, statement)
    names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id in caught]
    if len(names) != 1:
        return None
    site = module.site(statement)
    return draft(
        project,
        root,
        CAUSE,
        called(module, names[0], ".with_traceback(None)"),
        f"Keep `{names[0].id}` without its traceback, at {site}.",
        "The exception keeps its type and its message; the frames of the failed calls, and their tensors, are let go of.",
        "The place of a failure is no longer kept: format the traceback as text where it is needed.",
    )


def _caught(module: Module, statement: ast.stmt) -> set[str]:
    """The names of the exception in this place: of the handler around, or of the parameters of the function."""
    around = list(module.ancestors(statement))
    handler = next((a.name for a in around if isinstance(a, ast.ExceptHandler) and a.name), None)
    if handler is not None:
        return {handler}
    function = next((a for a in around if isinstance(a, FUNCTIONS)), None)
    if function is None:
        return set()
    words = ("error", "exc", "exception", "err", "problem", "failure", "e")
    return {a.arg for a in function.args.args if a.arg in words}
