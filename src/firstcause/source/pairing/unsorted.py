"""A forward pass that sorts its samples, by length as packing wants, and returns them in that order."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from firstcause.source.module import Module
from firstcause.source.pairing.pairs import name_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.rewrites import Rewrite

SORTS = {"sort", "argsort", "topk"}


def find(module: Module) -> Iterator[Parting]:
    """Each forward that takes its argument's rows by a sort's order and never undoes it."""
    for function in module.nodes(ast.FunctionDef):
        if function.name not in ("forward", "__call__", "encode"):
            continue
        orders = _orders(module, function)
        taken = {n: str(_by(n)) for n in module.inside(function, ast.Subscript, ast.Call) if _by(n) in orders}
        returns = [r for r in module.inside(function, ast.Return) if r.value is not None]
        names = {*taken.values()}
        if len(names) != 1 or len(returns) != 1 or isinstance(returns[0].value, ast.Tuple):
            continue
        order = str(names.pop())
        first = next(iter(taken))
        statement, value = module.statement(first), returns[0].value
        if statement is None or value is None or _is_undone(module, function, order, taken):
            continue
        text = f"return ({module.segment(value)})[{order}.argsort()]"
        words = f"`{module.segment(first)}` sorts the samples, and what is returned stays in that order"
        yield Parting(module, statement, words, ((Rewrite(module, returns[0], text),),))


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


def _by(node: ast.expr) -> str | None:
    """The name by which an expression takes rows: ``x[order]``, ``x.index_select(0, order)``."""
    if isinstance(node, ast.Subscript):
        return name_of(node.slice)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "index_select"
    ):
        return name_of(node.args[-1]) if node.args else None
    return None


def _is_undone(module: Module, function: ast.FunctionDef, order: str, taken: Iterable[ast.expr]) -> bool:
    """Whether the order is used for anything but taking rows: the inverse is made from it, or rows are written by it."""
    allowed = {id(n) for one in taken for n in ast.walk(one)}
    return any(
        n.id == order and isinstance(n.ctx, ast.Load) and id(n) not in allowed
        for n in module.inside(function, ast.Name)
    )
