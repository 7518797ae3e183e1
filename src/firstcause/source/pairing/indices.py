"""Two stored sequences that are read beside each other by different row numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.pairing.drawn import drawn_once, draws
from firstcause.source.pairing.pairs import given, name_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import changed, one_line
from firstcause.source.rewrites import Rewrite

# Statements that stand so near to each other that what they read is used together.
NEAR = 2
# What holds row numbers in another order, and no property of the rows.
OF_ROWS = frozenset({
    "order", "perm", "permutation", "idx", "index", "indices", "inds", "row", "rows", "shuffled", "selected", "picked",
})  # fmt: skip


def find(module: Module) -> Iterator[Parting]:
    """The later of two readings whose row numbers differ and have a name in common, or are drawn each for itself."""
    read = list(_readings(module))
    for number, (statement, first) in enumerate(read):
        for other, second in read[number + 1 :]:
            if not _are_near(module, statement, other) or not _differ(module, first, second):
                continue
            texts = [module.segment(s.slice) for s in (first, second)]
            text = one_line(module, other)
            words = (
                f"`{text}` reads {module.segment(second.value)} by `{texts[1]}`, and {module.segment(first.value)} beside it is "
                f"read by `{texts[0]}`"
            )
            one, two = (statement, first), (other, second)
            ways = (
                drawn_once(module, one, two),
                (Rewrite(module, statement, changed(module, statement, (first.slice, texts[1]))),),
            )
            yield Parting(module, other, words, ways)


def _readings(module: Module) -> Iterator[tuple[ast.stmt, ast.Subscript]]:
    """The subscripts of names whose rows are all taken by one text within the function."""
    for node in module.nodes(ast.Subscript):
        statement = module.statement(node)
        simple = isinstance(statement, (ast.Return, ast.Assign, ast.Expr))
        if simple and statement is not None and isinstance(node.ctx, ast.Load) and _is_row(module, node):
            parent = module.parents.get(node)
            if not isinstance(parent, ast.Subscript) or parent.slice is not node:
                yield statement, node


def _is_row(module: Module, node: ast.Subscript) -> bool:
    if name_of(node.value) is None or isinstance(node.slice, (ast.Constant, ast.Tuple)):
        return False
    return bool(module.inside(node.slice, ast.Name))


def _are_near(module: Module, one: ast.stmt, other: ast.stmt) -> bool:
    if one is other:
        return True
    parent = module.parents.get(one)
    if parent is None or parent is not module.parents.get(other):
        return False
    body = [s for field in ("body", "orelse") for s in getattr(parent, field, [])]
    return one in body and other in body and abs(body.index(one) - body.index(other)) <= NEAR


def _differ(module: Module, one: ast.Subscript, other: ast.Subscript) -> bool:
    first, second = module.segment(one.slice), module.segment(other.slice)
    bases = [module.segment(s.value) for s in (one, other)]
    # What is looked up by a value of the other one is no row of its own.
    looked_up = any(
        module.segment(n) in bases
        for s in (one, other)
        for n in module.inside(s.slice, ast.Name, ast.Attribute)
    )
    if (
        bases[0] == bases[1]
        or looked_up
        or _is_looked_up(module, one, other)
        or _is_looked_up(module, other, one)
    ):
        return False
    if first == second:
        # The same call twice draws two times.
        return draws(module, one.slice)
    names = [{n.id for n in module.inside(s.slice, ast.Name)} for s in (one, other)]
    if names[0] & names[1] - {"torch", "np", "random", "self", "len"}:
        return True
    drawn = [_drawn(module, s.slice) for s in (one, other)]
    # Users and items are drawn each from a range of their own: what is read by them are two tables.
    return drawn[0] is not None and drawn[0] == drawn[1]


def _is_looked_up(module: Module, one: ast.Subscript, other: ast.Subscript) -> bool:
    """Whether a row number is what a third table has at the other's row: ``appeal[genre[item]]`` beside ``style[item]``."""
    index = one.slice
    if not isinstance(index, ast.Subscript) or ast.dump(index.slice) != ast.dump(other.slice):
        return False
    words = set(last_name(index.value).lower().split("_"))
    return not words & OF_ROWS and _drawn(module, index.value) is None


def _drawn(module: Module, index: ast.expr) -> str | None:
    """The draw that a row number is, or that its name was given, without its source of random numbers; None for no draw."""
    values = given(module, index, index.id) if isinstance(index, ast.Name) else [index]
    one = next((v for v in values if draws(module, v)), None)
    if one is None:
        return None
    text = ast.unparse(one)
    for call in (n for n in ast.walk(one) if isinstance(n, ast.Call)):
        for keyword in (k for k in call.keywords if k.arg in ("generator", "rng")):
            text = text.replace(f", {ast.unparse(keyword)}", "")
    return text
