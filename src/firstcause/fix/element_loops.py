"""Loops over elements written otherwise: all at once, or Python's numbers in place of tensors of one element.

Facts:

- ``file``, ``line``, ``column``, ``last``: the loop, or the statement that holds a list made by one.
- ``hot``: the line in it where the time goes.
- ``ways``, ``change``: how it can be written otherwise, and the number of the way that was measured.
- ``gain``: how much faster the same steps were so.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of
from firstcause.fix.scopes import imports_torch
from firstcause.fix.statements import indent_of, newline_of
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.otherwise import otherwise
from firstcause.source.pieces import Piece, located


def line(facts: Facts, project: Project) -> Site | None:
    """The innermost loop around the hot line."""
    module = module_of(facts, project)
    if module is None or _statement(module, facts) is None:
        return None
    around = [
        n
        for n in module.nodes(ast.For)
        if facts["line"] <= n.lineno <= facts["hot"] <= (n.end_lineno or n.lineno)
    ]
    found = max(around, key=lambda n: n.lineno, default=None) or _statement(module, facts)
    return module.site(found) if found is not None else None


def patch(cause: str, facts: Facts, project: Project, root: str) -> Fix | None:
    """The loop as it was measured; None where the file does not import torch, or the loop shares its line."""
    module, site = module_of(facts, project), line(facts, project)
    statement = _statement(module, facts) if module is not None else None
    if module is None or statement is None or site is None or facts.get("change") is None:
        return None
    text = otherwise(statement, facts["ways"][facts["change"]])
    before, newline = indent_of(module, statement), newline_of(module)
    if text is None or before is None or ("torch." in text and not imports_torch(module)):
        return None
    whole = "".join(f"{before}{row}{newline}" if row else newline for row in text.splitlines())
    edit = Edit(
        module.path, (statement.lineno, 0), ((statement.end_lineno or statement.lineno) + 1, 0), whole
    )
    gain = (facts.get("gain") or {}).get("gain", 0.0)
    return draft(
        project,
        root,
        cause,
        [edit],
        f"Compute all elements of the loop at {site} in one operation each, or over plain numbers.",
        f"The same steps were {gain:.1f} times as fast so, with the same losses; sums may round in another order.",
        "The intermediate values of all elements are in memory at once.",
    )


def _statement(module: Module, facts: Facts) -> ast.stmt | None:
    found = located(module.tree, replace(Piece.of(facts), kind="run"))
    return found[0][found[1]] if found is not None else None
