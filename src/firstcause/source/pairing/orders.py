"""Statements that put one of two names that belong together into another order, or leave rows of it out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.pairing.drawn import draws
from firstcause.source.pairing.following import Order, followed, identity, renamed
from firstcause.source.pairing.pairs import given, name_of, pairs, scope_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import one_line

METHODS = {"index_select", "flip", "roll", "take", "sample", "sort_values"}
# Whose functions are no methods of rows.
MODULES = ("torch", "np", "numpy", "random")
CALLS = {"sorted", "permutation", "sample", "roll", "flip", "index_select", "take", "reversed", "filter"}
IN_PLACE = {"shuffle", "sort", "reverse"}
NUMBERS = {"range", "arange", "randperm", "permutation", "argsort", "nonzero"}


def find(module: Module) -> Iterator[Parting]:
    """Each statement after which a name's partner is in another order than the name."""
    orders = list(_orders(module))
    of: dict[tuple[ast.AST, str], list[Order]] = {}
    for one in orders:
        of.setdefault((scope_of(module, one.statement, one.name), one.name), []).append(one)
    known = pairs(module)
    for (scope, name), mine in of.items():
        partners = sorted(b for s, a, b in known if s is scope and a == name)
        for partner in partners:
            if partner == mine[0].base or _comes_from(module, mine[0], partner):
                continue
            theirs = of.get((scope, partner), [])
            if [o.by for o in mine] == [o.by for o in theirs] or len(mine) > 1 or len(theirs) > 1:
                continue
            # Of two that are each put into an order of their own, the later one parts them.
            if theirs and theirs[0].statement.lineno > mine[0].statement.lineno:
                continue
            yield _parting(module, mine[0], partner, theirs[0] if theirs else None)


def _comes_from(module: Module, one: Order, partner: str) -> bool:
    """Whether a partner is made from the rows in their order."""
    function = module.function(one.statement) or module.tree
    return any(
        assign.lineno > one.statement.lineno
        and any(name_of(n) == partner for t in assign.targets for n in ast.walk(t))
        and any(name_of(n) == one.name for n in ast.walk(assign.value))
        for assign in module.inside(function, ast.Assign)
    )


def _parting(module: Module, one: Order, partner: str, theirs: Order | None) -> Parting:
    text = one_line(module, one.statement)
    beside = f"in the order of `{theirs.by}`" if theirs is not None else "as it was"
    words = f"`{text}` gives {one.name} other rows, and {partner}, which stands beside it, stays {beside}"
    if theirs is not None:
        together = renamed(module, one, theirs)
        apart = (*identity(module, one), *identity(module, theirs))
        ways = [together, apart if len(apart) == 2 else ()]
    else:
        ways = [followed(module, one, partner), identity(module, one)]
    return Parting(module, one.statement, words, tuple(w for w in ways if w))


def _orders(module: Module) -> Iterator[Order]:
    for statement in module.nodes(ast.Assign):
        target, value = statement.targets[0], statement.value
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        values = value.elts if isinstance(value, ast.Tuple) else [value]
        if len(targets) != len(values) or len(statement.targets) > 1:
            continue
        for one, new in zip(targets, values, strict=True):
            name, found = name_of(one), _of_value(module, new)
            if name is not None and found is not None:
                base, by, kind = found
                yield Order(statement, name, base, by, new, kind)
    for done in module.nodes(ast.Expr):
        call = done.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        kind = call.func.attr
        if kind not in IN_PLACE:
            continue
        held = call.args[0] if kind == "shuffle" and call.args else call.func.value
        name = name_of(held)
        if name is not None and not _is_numbers(module, done, name):
            yield Order(done, name, name, f"line {done.lineno}", call, kind)


def _of_value(module: Module, value: ast.expr) -> tuple[str, str, str] | None:
    """The name that a value holds the rows of, by what, and how it is written."""
    if isinstance(value, ast.Subscript):
        base = name_of(value.value)
        if base is None or not isinstance(value.slice, (ast.Name, ast.Attribute, ast.Call, ast.UnaryOp)):
            return None
        return (base, _key(module, value.slice), "rows")
    if isinstance(value, ast.ListComp) and len(value.generators) == 1:
        return _of_list(module, value)
    if not isinstance(value, ast.Call):
        return None
    last = last_name(value.func)
    if last == "list" and value.args:
        return _of_value(module, value.args[0]) if isinstance(value.args[0], ast.Call) else None
    method = isinstance(value.func, ast.Attribute) and name_of(value.func.value)
    if last in METHODS and method and method.split(".")[0] not in MODULES:
        return (str(method), _key(module, value).replace(str(method), "@"), "call")
    if last in CALLS and value.args:
        base = name_of(value.args[1 if last == "filter" and len(value.args) > 1 else 0])
        return (base, _key(module, value), last) if base is not None else None
    return None


def _of_list(module: Module, value: ast.ListComp) -> tuple[str, str, str] | None:
    loop = value.generators[0]
    if isinstance(value.elt, ast.Subscript) and module.segment(value.elt.slice) == module.segment(
        loop.target
    ):
        base = name_of(value.elt.value)
        return (base, _key(module, loop.iter), "list") if base is not None and not loop.ifs else None
    base = name_of(loop.iter)
    if base is None or len(loop.ifs) != 1 or module.segment(value.elt) != module.segment(loop.target):
        return None
    return (base, module.segment(loop.ifs[0]), "kept")


def _key(module: Module, by: ast.expr) -> str:
    return f"{module.segment(by)} of line {by.lineno}" if draws(module, by) else module.segment(by)


def _is_numbers(module: Module, node: ast.AST, name: str) -> bool:
    """Whether a name stands for row numbers: their order parts nothing."""
    values = given(module, node, name)
    return bool(values) and any(last_name(c.func) in NUMBERS for c in module.inside(values[0], ast.Call))
