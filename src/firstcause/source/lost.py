"""Results of calls that nothing in the program uses: dropped where they are made, or bound to a name that nobody reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.callsites import last_name
from firstcause.source.module import Module, within


def is_lost(module: Module, line: int, call: str) -> bool:
    """Whether what a call on a line makes is used nowhere; ``setitem`` writes elements, and makes what it writes into."""
    return any(_loses(module, s, call) for s in _on(module, line))


def _on(module: Module, line: int) -> Iterator[ast.stmt]:
    return (s for s in module.nodes(ast.Expr, ast.Assign) if s.lineno <= line <= (s.end_lineno or s.lineno))


def _loses(module: Module, statement: ast.stmt, call: str) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and last_name(statement.value.func) == call
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if call == "setitem" and isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return not _is_read(module, statement, target.value.id)
    made = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
    named = isinstance(target, ast.Name) and made and last_name(statement.value.func) == call  # type: ignore[attr-defined]
    return named and isinstance(target, ast.Name) and not _is_read(module, statement, target.id)


def _is_read(module: Module, statement: ast.stmt, name: str) -> bool:
    scope = module.function(statement) or module.tree
    reads = (n for n in within(scope) if isinstance(n, ast.Name) and n.id == name)
    return any(isinstance(n.ctx, ast.Load) and not _is_written_into(module, n) for n in reads)


def _is_written_into(module: Module, name: ast.Name) -> bool:
    """Whether a name is read only to write elements of what it stands for: ``x[mask] = 0``."""
    parent = module.parents.get(name)
    return isinstance(parent, ast.Subscript) and parent.value is name and isinstance(parent.ctx, ast.Store)
