"""Columns of a table that become inputs since nothing takes them out. Only those that a brief wants to be none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.schema.site import Site
from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve
from firstcause.source.walk import Origin

CHOOSES = ("columns", "usecols")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
# Methods of a table that leave its columns where they are, or take out those that they name.
KEEPS = frozenset(
    {
        "assign", "astype", "copy", "drop", "drop_duplicates", "dropna", "fillna", "head", "query", "replace",
        "reset_index", "sample", "sort_values", "tail",
    }
)  # fmt: skip


def input_facts(code: Code) -> Iterator[Fact]:
    """Facts of input_column: ``[c for c in table.columns if c not in OTHERS]`` takes in each that is not among the others."""
    asked = {str(i.value) for i in code.asked("input_column")}
    if not asked or not any(
        _takes_the_rest(code, m, node) for m in code.modules for node in m.nodes(*COMPREHENSIONS)
    ):
        return
    for name in sorted(asked):
        site = _only_read(code, name)
        if site is not None:
            yield Fact("input_column", name, site, "a column that nothing takes out of the inputs")


def _takes_the_rest(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether the columns of a table as it was read are gone through, and it is cut to all but some of them."""
    if not isinstance(node, COMPREHENSIONS) or len(node.generators) != 1:
        return False
    part = node.generators[0]
    source = part.iter.func if isinstance(part.iter, ast.Call) else part.iter
    table = next((n.value for n in ast.walk(source) if _is_columns(n)), None)
    tests = [
        t for t in part.ifs if isinstance(t, ast.Compare) and isinstance(t.ops[0], (ast.NotIn, ast.NotEq))
    ]
    others = [o.node for t in tests for o in code.origins(module, t.comparators[0])]
    written = all(isinstance(o, (ast.Set, ast.List, ast.Tuple, ast.Constant)) for o in others)
    rest = table is not None and bool(others) and written and len(tests) == len(part.ifs)
    return rest and table is not None and _is_as_read(code, module, table, 8) and _cuts(code, node)


def _is_columns(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "columns"


def _is_as_read(code: Code, module: Module, table: ast.expr, hops: int) -> bool:
    """Whether a table has every column that was read, those apart that the program names when it takes them out."""
    found = code.origins(module, table)
    return bool(found) and hops > 0 and all(_has_all(code, o, hops) for o in found)


def _has_all(code: Code, origin: Origin, hops: int) -> bool:
    node, module = origin.node, origin.module
    if isinstance(node, ast.Subscript):
        rows = _of_rows(node)
        return rows is not None and _is_as_read(code, module, rows, hops - 1)
    if not isinstance(node, ast.Call):
        return False
    name = external(resolve(code.project, module, node.func))
    if name.startswith("pandas.read_"):
        return True
    if last_name(node.func) == "train_test_split" and node.args:
        return _is_as_read(code, module, node.args[0], hops - 1)
    # Along the other axis the same methods take columns.
    across = any(k.arg in ("axis", None) for k in node.keywords) and last_name(node.func) != "drop"
    kept = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS else None
    return kept is not None and not across and _is_as_read(code, module, kept, hops - 1)


def _of_rows(node: ast.Subscript) -> ast.expr | None:
    """The table of which rows are taken: ``table[table.age > 3]``, ``table.iloc[chosen]``."""
    by_place = isinstance(node.value, ast.Attribute) and node.value.attr in ("iloc", "loc")
    if by_place and isinstance(node.value, ast.Attribute):
        return None if isinstance(node.slice, ast.Tuple) else node.value.value
    return node.value if isinstance(node.slice, ast.Compare) else None


def _cuts(code: Code, chosen: ast.AST) -> bool:
    """Whether a table is cut to the chosen columns somewhere: ``table[inputs]``, ``table.loc[:, inputs]``."""
    places = (
        (m, n.slice) for m in code.modules for n in m.nodes(ast.Subscript) if isinstance(n.ctx, ast.Load)
    )
    names = ((m, n) for m, where in places for n in (where.elts if isinstance(where, ast.Tuple) else [where]))
    return any(
        o.node is chosen
        for m, n in names
        if isinstance(n, (ast.Name, ast.Attribute, *COMPREHENSIONS))
        for o in code.origins(m, n)
    )


def _only_read(code: Code, name: str) -> Site | None:
    """The place where a column is read, if it is named nowhere else: what names it again may drop it."""
    reads = [c for c in code.calls_within("pandas.") if c.name.rpartition(".")[2].startswith("read_")]
    whole = [c for c in reads if not any(c.may_have(argument) for argument in CHOOSES)]
    named = [(m, n) for m in code.modules for n in m.nodes(ast.Constant) if n.value == name]
    if not named:
        return whole[0].site if len(whole) == 1 and len(reads) == 1 else None
    listed = [n for call in reads for n in _listed(call)]
    return named[0][0].site(named[0][1]) if all(_holds(listed, m, n) for m, n in named) else None


def _listed(call: Call) -> Iterator[tuple[Module, ast.AST]]:
    """The lists of columns that a reader is given."""
    for argument in CHOOSES:
        value = call.argument(argument)
        if value is not None:
            yield from ((o.module, o.node) for o in call.code.origins(value.module, value.node))


def _holds(listed: list[tuple[Module, ast.AST]], module: Module, node: ast.AST) -> bool:
    return any(m is module and any(n is node for n in ast.walk(whole)) for m, whole in listed)
