"""Columns of a table that become inputs since nothing takes them out. Only those that a brief wants to be none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.schema.site import Site
from firstcause.source.module import Module

CHOOSES = ("columns", "usecols")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


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
    """Whether the columns of a table are gone through and all but some are taken."""
    if not isinstance(node, COMPREHENSIONS) or len(node.generators) != 1:
        return False
    part = node.generators[0]
    source = part.iter.func if isinstance(part.iter, ast.Call) else part.iter
    columns = any(isinstance(n, ast.Attribute) and n.attr == "columns" for n in ast.walk(source))
    tests = [
        t for t in part.ifs if isinstance(t, ast.Compare) and isinstance(t.ops[0], (ast.NotIn, ast.NotEq))
    ]
    others = [o.node for t in tests for o in code.origins(module, t.comparators[0])]
    written = all(isinstance(o, (ast.Set, ast.List, ast.Tuple, ast.Constant)) for o in others)
    return columns and bool(others) and written and len(tests) == len(part.ifs)


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
