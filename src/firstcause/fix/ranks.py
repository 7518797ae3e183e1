"""How a file names torch's own modules, and whole statements rewritten at another depth."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from firstcause.source import Module

STEP = "    "


def named(module: Module, dotted: str) -> str | None:
    """``torch.distributed.broadcast`` as this file can write it: by an imported name or alias; None where it imports none."""
    best = ""
    for full, own in _bound(module):
        if dotted == full or dotted.startswith(full + "."):
            text = own + dotted[len(full) :]
            best = text if not best or len(text) < len(best) else best
    return best or None


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


def written(module: Module, statement: ast.stmt, indent: str) -> str:
    """The whole lines of a statement at another depth, its last newline included."""
    first = statement.lineno
    decorated = getattr(statement, "decorator_list", [])
    first = min([first, *(d.lineno for d in decorated)])
    lines = [module.lines[n - 1] for n in range(first, (statement.end_lineno or statement.lineno) + 1)]
    text = textwrap.dedent("".join(lines))
    text = text if text.endswith("\n") else text + "\n"
    return textwrap.indent(text, indent)


def indent_of(module: Module, statement: ast.stmt) -> str | None:
    """What stands before a statement on its line; None where that is more than blanks."""
    before = module.lines[statement.lineno - 1].encode()[: statement.col_offset].decode()
    return None if before.strip() else before


def alone(module: Module, statement: ast.stmt) -> bool:
    """Whether no other statement shares a line with this one."""
    last = statement.end_lineno or statement.lineno
    rest = module.lines[last - 1].encode()[statement.end_col_offset or 0 :].decode().strip()
    return indent_of(module, statement) is not None and (not rest or rest.startswith("#"))
