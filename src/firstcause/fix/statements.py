"""Whole statements put before or after another one, at its depth of indentation."""

from __future__ import annotations

import ast

from firstcause.fix.edits import Edit
from firstcause.source import Module


def inserted_line_before(module: Module, statement: ast.stmt, text: str) -> Edit | None:
    """An edit that puts a statement on a line of its own before another; None where that one shares its line."""
    indent = _indent(module, statement)
    if indent is None:
        return None
    place = (statement.lineno, 0)
    return Edit(module.path, place, place, f"{indent}{text}{_newline(module)}")


def inserted_line_after(module: Module, statement: ast.stmt, text: str) -> Edit | None:
    """An edit that puts a statement on a line of its own after another; None where that one shares its line."""
    indent = _indent(module, statement)
    last = statement.end_lineno or statement.lineno
    rest = module.lines[last - 1].encode()[statement.end_col_offset or 0 :].decode().strip()
    if indent is None or (rest and not rest.startswith("#")):
        return None
    ending = "" if module.lines[last - 1].endswith(("\n", "\r")) else _newline(module)
    place = (last + 1, 0)
    return Edit(module.path, place, place, f"{ending}{indent}{text}{_newline(module)}")


def removed(module: Module, statement: ast.stmt) -> Edit | None:
    """An edit that takes a statement's lines away; ``pass`` stays where it was alone in its block."""
    indent = _indent(module, statement)
    if indent is None:
        return None
    end = (statement.end_lineno or statement.lineno) + 1
    alone = [statement] in blocks_of(module.parents.get(statement))
    return Edit(
        module.path, (statement.lineno, 0), (end, 0), f"{indent}pass{_newline(module)}" if alone else ""
    )


def blocks_of(node: ast.AST | None) -> list[list[ast.stmt]]:
    """The blocks of statements directly beneath a node."""
    return [b for name in ("body", "orelse", "finalbody") if isinstance(b := getattr(node, name, None), list)]


def _indent(module: Module, statement: ast.stmt) -> str | None:
    before = module.lines[statement.lineno - 1].encode()[: statement.col_offset].decode()
    return None if before.strip() else before


def _newline(module: Module) -> str:
    line = module.lines[0] if module.lines else "\n"
    return "\r\n" if line.endswith("\r\n") else "\n"
