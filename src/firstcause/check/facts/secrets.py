"""Secrets that the code takes from the environment, where the brief says that they stand there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact
from firstcause.source.module import Module

READS = ("environ", "environ.get", "getenv")
WRITES = ("environ", "environ.setdefault", "putenv")


def secret_facts(code: Code) -> Iterator[Fact]:
    """A fact for each asked variable that ``os.environ`` or ``os.getenv`` is asked for; it only confirms."""
    for asked in code.asked("secrets"):
        uses = [use for module in code.modules for use in _uses(module, asked.value)]
        # What the code puts there itself is taken from the code.
        if any(_is_written(code, *use) for use in uses):
            continue
        for module, node in uses:
            taken = _taken(node)
            if taken.endswith(READS) and not isinstance(getattr(node, "ctx", None), ast.Store):
                yield Fact("secrets", asked.value, module.site(node), taken, confirms=True)


def _uses(module: Module, name: object) -> Iterator[tuple[Module, ast.Call | ast.Subscript]]:
    for node in module.nodes(ast.Constant):
        parent = module.parents.get(node)
        if node.value == name and isinstance(parent, (ast.Call, ast.Subscript)):
            yield module, parent


def _taken(node: ast.Call | ast.Subscript) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node.value)


def _is_written(code: Code, module: Module, node: ast.Call | ast.Subscript) -> bool:
    """Whether the code says the value itself: as it stores it, as a default, or behind an ``or``."""
    taken, parent = _taken(node), module.parents.get(node)
    given: list[ast.expr] = []
    if isinstance(node, ast.Call) and taken.endswith((*READS, *WRITES)):
        given = [*node.args[1:], *(k.value for k in node.keywords)]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        given = [parent.value] if isinstance(parent, ast.Assign) else []
    if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.Or):
        given = [*given, *(v for v in parent.values if v is not node)]
    found = [code.constant(module, one) for one in given]
    return any(one is not None and bool(one.value) for one in found)
