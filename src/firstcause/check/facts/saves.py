"""When code that saves by itself does so: each epoch, for the best only, or at the end."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from firstcause.check.code import Call, Code, Loop
from firstcause.check.events import around, training_loops
from firstcause.check.facts.fact import Fact
from firstcause.check.ranks import of_rank

MAX_DEPTH = 3


def when_saved(code: Code, saves: Sequence[Call]) -> Iterator[Fact]:
    """After each epoch where a save stands in the loop around the batches; at the end where it stands in no loop.

    A save in a function of the program's own is made where that function is called.
    """
    loops = training_loops(code)
    if not saves or not loops:
        return
    epochs = [outer for loop in loops for outer in around(code, loop)]
    places = [place for save in saves for place in _places(code, save, save, MAX_DEPTH)]
    inside = [p for p in places if any(p.call.module is o.module and o.holds(p.call.node) for o in epochs)]
    plain = [p for p in inside if not p.tested and not _is_chosen(code, p.call, epochs)]
    if inside:
        made = (plain or inside)[0]
        how = made.save.name.lstrip(".")
        kind = "epoch" if plain else "best"
        yield Fact("save_strategy", kind, made.call.site, how, sure=bool(plain), confirms=not plain)
    elif all(code.loop_around(p.call.module, p.call.node) is None for p in places):
        yield Fact("save_strategy", "end", places[0].call.site, places[0].save.name.lstrip("."))


@dataclass(frozen=True)
class _Place:
    """Where a save is made by the program, and whether a test on the way there decides on it."""

    call: Call
    save: Call
    tested: bool = False


def _places(code: Code, save: Call, call: Call, depth: int) -> list[_Place]:
    """Where a save is made: in its own function, or where that is called, if it holds no training itself."""
    function = call.module.function(call.node)
    if (
        not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        or not depth
        or code.loop_around(call.module, call.node)
    ):
        return [_Place(call, save)]
    if any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(function)):
        return [_Place(call, save)]
    tested = any(
        isinstance(p, ast.If)
        and function in call.module.ancestors(p)
        and not of_rank(code, call.module, p.test)
        for p in call.module.ancestors(call.node)
    )
    calls = [c for c in code.own_calls(function.name) if c.module.function(c.node) is not function]
    found = [p for c in calls for p in _places(code, save, c, depth - 1)]
    return [replace(p, tested=p.tested or tested) for p in found] or [_Place(call, save)]


def _is_chosen(code: Code, save: Call, epochs: list[Loop]) -> bool:
    return any(_chooses(code, save, epochs, p) for p in save.module.ancestors(save.node))


def _chooses(code: Code, save: Call, epochs: list[Loop], parent: ast.AST) -> bool:
    """Whether a test within the loop decides in which epochs something is saved; which rank saves is none."""
    within = any(o.holds(parent) for o in epochs)
    if not isinstance(parent, ast.If) or not within:
        return False
    both = isinstance(parent.test, ast.BoolOp) and isinstance(parent.test.op, ast.And)
    parts = parent.test.values if both and isinstance(parent.test, ast.BoolOp) else [parent.test]
    return not all(of_rank(code, save.module, part) for part in parts)
