"""When code that saves by itself does so: each epoch, for the best only, or at the end."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstcause.check.code import Call, Code, Loop
from firstcause.check.events import around, training_loops
from firstcause.check.facts.fact import Fact
from firstcause.check.ranks import of_rank
from firstcause.source.module import DEFINED

MAX_DEPTH = 3


@dataclass(frozen=True)
class Place:
    """A save where it is made, or where the program's own function is called that makes it; ``tested`` where it may not."""

    call: Call
    save: Call
    tested: bool = False


def when_saved(code: Code, saves: Sequence[Call]) -> Iterator[Fact]:
    """After each epoch where a save stands in the loop around the batches; at the end where it stands in no loop.

    A save in a function of the program's own is made where that function is called.
    """
    loops = training_loops(code)
    if not saves or not loops:
        return
    epochs = [outer for loop in loops for outer in around(code, loop)]
    places = [place for save in saves for place in _places(code, save, MAX_DEPTH)]
    inside = [p for p in places if any(p.call.module is o.module and o.holds(p.call.node) for o in epochs)]
    plain = [p for p in inside if not p.tested and not _is_chosen(code, p.call, epochs)]
    if inside:
        made = (plain or inside)[0]
        how = made.save.name.lstrip(".")
        kind = "epoch" if plain else "best"
        yield Fact("save_strategy", kind, made.call.site, how, sure=bool(plain), confirms=not plain)
    elif all(code.loop_around(p.call.module, p.call.node) is None for p in places):
        yield Fact("save_strategy", "end", places[0].call.site, places[0].save.name.lstrip("."))


def _places(code: Code, save: Call, depth: int) -> list[Place]:
    """Where a save is made: in its own function, or where that is called, if it holds no training itself."""
    function = save.module.function(save.node)
    if not isinstance(function, DEFINED) or not depth or code.loop_around(save.module, save.node):
        return [Place(save, save)]
    if any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(function)):
        return [Place(save, save)]
    tested = _is_tested(code, save, function)
    calls = [c for c in code.own_calls(function.name) if c.module.function(c.node) is not function]
    found = [p for c in calls for p in _places(code, c, depth - 1)]
    return [Place(p.call, save, p.tested or tested) for p in found] or [Place(save, save)]


def _is_tested(code: Code, save: Call, function: ast.AST) -> bool:
    """Whether a test within its function decides if something is saved: around it, or by leaving before it."""
    around = save.module.ancestors(save.node)
    around = around[: around.index(function)] if function in around else around
    if any(isinstance(p, ast.If) and not _asks_rank(code, save, p) for p in around):
        return True
    return any(
        isinstance(n, ast.If)
        and n not in around
        and n.lineno < save.node.lineno
        and any(isinstance(s, ast.Return) for part in n.body for s in ast.walk(part))
        and not _asks_rank(code, save, n)
        for n in ast.walk(function)
    )


def _asks_rank(code: Code, save: Call, branch: ast.If) -> bool:
    """Whether a test asks for nothing but which process this is."""
    both = isinstance(branch.test, ast.BoolOp) and isinstance(branch.test.op, ast.And)
    parts = branch.test.values if both and isinstance(branch.test, ast.BoolOp) else [branch.test]
    return all(of_rank(code, save.module, part) for part in parts)


def _is_chosen(code: Code, save: Call, epochs: list[Loop]) -> bool:
    return any(_chooses(code, save, epochs, p) for p in save.module.ancestors(save.node))


def _chooses(code: Code, save: Call, epochs: list[Loop], parent: ast.AST) -> bool:
    """Whether a test within the loop decides in which epochs something is saved; which rank saves is none."""
    within = any(o.holds(parent) for o in epochs)
    if not isinstance(parent, ast.If) or not within:
        return False
    return not _asks_rank(code, save, parent)
