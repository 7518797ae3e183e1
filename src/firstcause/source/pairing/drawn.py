"""Row numbers that are drawn: a second call gives others, so two readings by them need one draw."""

from __future__ import annotations

import ast

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.pairing.texts import changed
from firstcause.source.rewrites import Rewrite

DRAWS = frozenset(
    {
        "choice",
        "choices",
        "integers",
        "multinomial",
        "permutation",
        "randint",
        "randperm",
        "sample",
        "shuffle",
    }
)
Reading = tuple[ast.stmt, ast.Subscript]


def draws(module: Module, node: ast.AST) -> bool:
    """Whether a call within a node draws anew each time."""
    return any(last_name(c.func) in DRAWS for c in module.inside(node, ast.Call))


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
