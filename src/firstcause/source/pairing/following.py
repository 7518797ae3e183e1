"""An order of rows written otherwise: the partner follows it, both take one, or there is none."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.module import Module
from firstcause.source.pairing.drawn import DRAWS, drawn_once
from firstcause.source.pairing.pairs import name_of
from firstcause.source.pairing.texts import changed
from firstcause.source.rewrites import Rewrite


@dataclass(frozen=True, eq=False)
class Order:
    """What a statement does to a name: ``by`` is the order's own text, or one of its own where it is drawn."""

    statement: ast.stmt
    name: str
    base: str
    by: str
    value: ast.expr
    kind: str


def identity(module: Module, one: Order) -> tuple[Rewrite, ...]:
    """The statement without the order; none where rows were left out on purpose."""
    if one.kind in ("kept", "filter"):
        return ()
    if isinstance(one.statement, ast.Expr):
        return (Rewrite(module, one.statement, "pass"),)
    return (Rewrite(module, one.statement, changed(module, one.statement, (one.value, one.base))),)


def renamed(module: Module, one: Order, theirs: Order) -> tuple[Rewrite, ...]:
    """Both by the order of the earlier one, drawn once; none where they are no rows of names."""
    mine, other = one.value, theirs.value
    if not isinstance(mine, ast.Subscript) or not isinstance(other, ast.Subscript):
        return ()
    return drawn_once(module, (theirs.statement, other), (one.statement, mine))


def followed(module: Module, one: Order, partner: str) -> tuple[Rewrite, ...]:
    """The partner in the same order, from the later of both statements on; none where it is not known there."""
    bound = _bound(module, one, partner)
    if bound is None:
        return ()
    at = bound if bound.lineno > one.statement.lineno else None
    text = module.segment(one.statement)
    if one.kind == "rows":
        assert isinstance(one.value, ast.Subscript)
        by = one.value.slice
        if isinstance(by, ast.Call) and at is None:
            new = f"rows = {module.segment(by)}\n{changed(module, one.statement, (by, 'rows'))}"
            return (Rewrite(module, one.statement, f"{new}\n{partner} = {partner}[rows]"),)
        if isinstance(by, ast.Call):
            return ()
        return _after(module, one, at, f"{partner} = {partner}[{module.segment(by)}]")
    if one.kind == "list":
        assert isinstance(one.value, ast.ListComp)
        loop = one.value.generators[0]
        row = module.segment(loop.target)
        return _after(
            module, one, at, f"{partner} = [{partner}[{row}] for {row} in {module.segment(loop.iter)}]"
        )
    if at is not None and one.base == one.name:
        return ()
    zipped = f"zip({one.base}, {partner})"
    unzipped = f"{one.name}, {partner} = ([p[i] for p in pairs] for i in (0, 1))"
    if one.kind == "kept":
        assert isinstance(one.value, ast.ListComp)
        loop = one.value.generators[0]
        row, test = module.segment(loop.target), module.segment(loop.ifs[0])
        made = f"pairs = [({row}, partner) for {row}, partner in {zipped} if {test}]"
    elif one.kind in ("sorted", "sort"):
        assert isinstance(one.value, ast.Call)
        made = _sorted(module, one.value, zipped)
    elif one.kind == "shuffle":
        assert isinstance(one.value, ast.Call)
        made = f"pairs = list({zipped})\n{module.segment(one.value.func)}(pairs)"
        unzipped = f"{one.name}[:], {partner}[:] = ([p[i] for p in pairs] for i in (0, 1))"
    else:
        call = text.partition("=")[2].strip()
        drawn = any(f"{d}(" in call for d in DRAWS)
        if drawn or at is not None or one.base not in call or not isinstance(one.statement, ast.Assign):
            return ()
        return _after(module, one, at, f"{partner} = {call.replace(one.base, partner)}")
    if at is not None:
        return (Rewrite(module, at, f"{module.segment(at)}\n{made}\n{unzipped}"),)
    return (Rewrite(module, one.statement, f"{made}\n{unzipped}"),)


def _sorted(module: Module, call: ast.Call, zipped: str) -> str:
    keys = {k.arg: module.segment(k.value) for k in call.keywords}
    key = f"({keys['key']})(pair[0])" if "key" in keys else "pair[0]"
    more = f", reverse={keys['reverse']}" if "reverse" in keys else ""
    return f"pairs = sorted({zipped}, key=lambda pair: {key}{more})"


def _after(module: Module, one: Order, at: ast.stmt | None, line: str) -> tuple[Rewrite, ...]:
    statement = at if at is not None else one.statement
    return (Rewrite(module, statement, f"{module.segment(statement)}\n{line}"),)


def _bound(module: Module, one: Order, partner: str) -> ast.stmt | None:
    """The statement by which the partner is known in the function of the order; the order's own where an argument is."""
    function = module.function(one.statement) or module.tree
    found: list[ast.stmt] = []
    for assign in module.inside(function, ast.Assign):
        flat = [e for t in assign.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
        if any(name_of(t) == partner for t in flat):
            found.append(assign)
    for loop in module.inside(function, ast.For):
        if any(name_of(n) == partner for n in ast.walk(loop.target)):
            return one.statement
    if found:
        return max(found, key=lambda s: s.lineno)
    if isinstance(function, ast.FunctionDef) and partner in {
        a.arg for a in (*function.args.args, *function.args.kwonlyargs)
    }:
        return one.statement
    return None
