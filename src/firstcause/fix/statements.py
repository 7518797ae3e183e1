"""Whole statements put before or after another one, at its depth of indentation, or written at another depth."""

from __future__ import annotations

import ast
import textwrap

from firstcause.fix.edits import Edit
from firstcause.source import Module

STEP = "    "


def inserted_line_before(module: Module, statement: ast.stmt, text: str) -> Edit | None:
    """An edit that puts a statement on a line of its own before another; None where that one shares its line."""
    indent = indent_of(module, statement)
    if indent is None:
        return None
    place = (statement.lineno, 0)
    return Edit(module.path, place, place, f"{indent}{text}{newline_of(module)}")


def inserted_line_after(module: Module, statement: ast.stmt, text: str) -> Edit | None:
    """An edit that puts a statement on a line of its own after another; None where that one shares its line."""
    indent, last = indent_of(module, statement), statement.end_lineno or statement.lineno
    if indent is None or not alone(module, statement):
        return None
    ending = "" if module.lines[last - 1].endswith(("\n", "\r")) else newline_of(module)
    place = (last + 1, 0)
    return Edit(module.path, place, place, f"{ending}{indent}{text}{newline_of(module)}")


def removed(module: Module, statement: ast.stmt) -> Edit | None:
    """An edit that takes a statement's lines away; ``pass`` stays where it was alone in its block."""
    indent = indent_of(module, statement)
    if indent is None:
        return None
    end = (statement.end_lineno or statement.lineno) + 1
    only = [statement] in blocks_of(module.parents.get(statement))
    return Edit(
        module.path, (statement.lineno, 0), (end, 0), f"{indent}pass{newline_of(module)}" if only else ""
    )


def blocks_of(node: ast.AST | None) -> list[list[ast.stmt]]:
    """The blocks of statements directly beneath a node."""
    return [b for name in ("body", "orelse", "finalbody") if isinstance(b := getattr(node, name, None), list)]


def later_in_block(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """The statements that follow one in its block."""
    block = next((b for b in blocks_of(module.parents.get(statement)) if statement in b), [statement])
    return block[block.index(statement) + 1 :]


def written(module: Module, statement: ast.stmt, indent: str) -> str:
    """The whole lines of a statement at another depth, its last newline included."""
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    text = textwrap.dedent("".join(module.lines[first - 1 : statement.end_lineno or statement.lineno]))
    return textwrap.indent(text if text.endswith("\n") else text + "\n", indent)


def indent_of(module: Module, statement: ast.stmt) -> str | None:
    """What stands before a statement on its line; None where that is more than blanks."""
    before = module.lines[statement.lineno - 1].encode()[: statement.col_offset].decode()
    return None if before.strip() else before


def starts_line(module: Module, statement: ast.stmt) -> bool:
    """Whether nothing stands before a statement on its line."""
    return indent_of(module, statement) is not None


def margin(module: Module, statement: ast.stmt) -> str:
    """The white space at the head of a statement's line."""
    line = module.lines[statement.lineno - 1]
    return line[: len(line) - len(line.lstrip())]


def alone(module: Module, statement: ast.stmt) -> bool:
    """Whether no other statement shares a line with this one."""
    last = statement.end_lineno or statement.lineno
    rest = module.lines[last - 1].encode()[statement.end_col_offset or 0 :].decode().strip()
    return starts_line(module, statement) and (not rest or rest.startswith("#"))


def newline_of(module: Module) -> str:
    """How the file ends its lines."""
    return "\r\n" if module.lines and module.lines[0].endswith("\r\n") else "\n"
