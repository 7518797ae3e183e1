"""A forward pass that sorts its samples, by length as packing wants, and returns them in that order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.module import Module
from firstcause.source.pairing.pairs import name_of
from firstcause.source.pairing.parting import Parting, Rewrite

SORTS = {"sort", "argsort", "topk"}


def find(module: Module) -> Iterator[Parting]:
    """Each forward that takes its argument's rows by a sort's order and never undoes it."""
    for function in module.nodes(ast.FunctionDef):
        if function.name not in ("forward", "__call__", "encode"):
            continue
        orders = _orders(module, function)
        taken = [a for a in module.inside(function, ast.Assign) if _by(module, a, orders)]
        returns = [r for r in module.inside(function, ast.Return) if r.value is not None]
        names = {_by(module, a, orders) for a in taken}
        if len(names) != 1 or len(returns) != 1 or isinstance(returns[0].value, ast.Tuple):
            continue
        order = str(names.pop())
        if _is_undone(module, function, order, taken):
            continue
        value = returns[0].value
        assert value is not None
        text = f"return ({module.segment(value)})[{order}.argsort()]"
        words = f"`{module.segment(taken[0])}` sorts the samples, and what is returned stays in that order"
        yield Parting(module, taken[0], words, ((Rewrite(module, returns[0], text),),))


def _orders(module: Module, function: ast.FunctionDef) -> set[str]:
    """The names that hold the order of a sort: the second of what ``sort`` gives, or what ``argsort`` does."""
    found: set[str] = set()
    for assign in module.inside(function, ast.Assign):
        call, target = assign.value, assign.targets[0]
        last = module.segment(call.func).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        if last in SORTS:
            one = target.elts[-1] if isinstance(target, ast.Tuple) and last != "argsort" else target
            name = name_of(one)
            found |= {name} if name is not None else set()
    return found


def _by(module: Module, assign: ast.Assign, orders: set[str]) -> str | None:
    """The order by which an assignment takes the rows of a name."""
    value = assign.value
    if not isinstance(value, ast.Subscript):
        return None
    name = name_of(value.slice)
    return name if name in orders else None


def _is_undone(module: Module, function: ast.FunctionDef, order: str, taken: list[ast.Assign]) -> bool:
    """Whether the order is used for anything but taking rows: the inverse is made from it, or rows are written by it."""
    allowed = {id(a.value.slice) for a in taken if isinstance(a.value, ast.Subscript)}
    uses = [
        n
        for n in module.inside(function, ast.Name)
        if n.id == order and isinstance(n.ctx, ast.Load) and id(n) not in allowed
    ]
    return bool(uses)
