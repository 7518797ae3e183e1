"""Two readings by the row numbers of the first, which are drawn once."""

from __future__ import annotations

import ast

from firstcause.source.module import Module
from firstcause.source.pairing import Rewrite
from firstcause.source.pairing.texts import changed

Reading = tuple[ast.stmt, ast.Subscript]


def drawn_once(module: Module, first: Reading, later: Reading) -> tuple[Rewrite, ...]:
    """Rewrites of both statements, or of the one that holds both."""
    (statement, one), (after, other) = first, later
    index = module.segment(one.slice)
    before = ""
    if any(isinstance(n, ast.Call) for n in ast.walk(one.slice)):
        before, index = f"rows = {index}\n", "rows"
    if statement is after:
        both = changed(module, statement, (one.slice, index), (other.slice, index))
        return (Rewrite(module, statement, before + both),)
    made = Rewrite(module, after, changed(module, after, (other.slice, index)))
    if not before:
        return (made,)
    return (Rewrite(module, statement, before + changed(module, statement, (one.slice, index))), made)
