"""What stands around a line: its statement, the calls in the same function or file, and what the file imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.fix.operations import Facts
from firstcause.source import Module


def statement_at(module: Module, facts: Facts) -> ast.stmt | None:
    """The innermost statement, no block, on the line of some facts."""
    found = [n for n in module.nodes_on(int(facts.get("line") or 0)) if isinstance(n, ast.stmt)]
    return next((n for n in reversed(found) if not hasattr(n, "body")), None)


def calls_around(module: Module, node: ast.AST) -> Iterator[ast.Call]:
    """The calls in the function (or file) that a node stands in, in the order of the text."""
    scope: ast.AST = module.function(node) or module.tree
    found = [n for n in ast.walk(scope) if isinstance(n, ast.Call)]
    yield from sorted(found, key=lambda n: (n.lineno, n.col_offset))


def method_calls(module: Module, node: ast.AST, name: str) -> list[ast.Call]:
    """The calls ``x.name(...)`` around a node."""
    return [
        c for c in calls_around(module, node) if isinstance(c.func, ast.Attribute) and c.func.attr == name
    ]


def receiver(module: Module, call: ast.Call) -> str:
    """The text of ``x`` in ``x.name(...)``."""
    assert isinstance(call.func, ast.Attribute)
    return module.segment(call.func.value)


def imports_torch(module: Module) -> bool:
    """Whether the file can name torch as ``torch``."""
    return any(
        isinstance(n, ast.Import) and any(a.name == "torch" and a.asname in (None, "torch") for a in n.names)
        for n in module.tree.body
    )


def named(module: Module, dotted: str) -> str | None:
    """``torch.distributed.broadcast`` as this file can write it: by an imported name or alias; None where it imports none."""
    found = [
        own + dotted[len(full) :]
        for full, own in _bound(module)
        if dotted == full or dotted.startswith(full + ".")
    ]
    return min(found, key=len, default=None)


def _bound(module: Module) -> Iterator[tuple[str, str]]:
    """What each import binds: its full name, and the name in this file."""
    for node in module.nodes(ast.Import):
        for alias in node.names:
            # ``import torch.nn`` binds torch.
            first = alias.name.partition(".")[0]
            yield (alias.name, alias.asname) if alias.asname else (first, first)
    for origin in module.nodes(ast.ImportFrom):
        for alias in origin.names:
            yield f"{origin.module}.{alias.name}", alias.asname or alias.name
