"""Exact edits of a file's text: what stands where, and what comes in its place; all else stays as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from firstcause.source.module import Module


@dataclass(frozen=True)
class Edit:
    """Characters ``start`` to ``end`` of a module's text give way to ``text``."""

    start: int
    end: int
    text: str


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text after some edits that do not overlap; raises ``ValueError`` where they do."""
    end = len(text) + 1
    for edit in sorted(edits, key=lambda e: (e.start, e.end), reverse=True):
        if edit.end > end:
            raise ValueError("two edits overlap")
        text, end = text[: edit.start] + edit.text + text[edit.end :], edit.start
    return text


def replaced(module: Module, node: ast.AST, text: str) -> Edit:
    """Another text in the place of a node."""
    return Edit(*module.span(node), text)


def line_before(module: Module, node: ast.AST, text: str) -> Edit | None:
    """A line of its own before a node's statement, indented as that; None where another statement shares its line."""
    statement = module.statement(node)
    if statement is None:
        return None
    start = module.offset(statement.lineno, 0)
    indent = module.text[start : module.span(statement)[0]]
    if indent.strip():
        return None
    return Edit(start, start, f"{indent}{text}{_newline(module)}")


def line_after(module: Module, node: ast.AST, text: str) -> Edit | None:
    """A line of its own after a node's statement; None where another statement shares its line."""
    statement = module.statement(node)
    if statement is None:
        return None
    start, end = module.span(statement)
    indent = module.text[module.offset(statement.lineno, 0) : start]
    rest = module.lines[(statement.end_lineno or statement.lineno) - 1]
    after = module.text[end : module.offset((statement.end_lineno or statement.lineno) + 1, 0)]
    if indent.strip() or (after.strip() and not after.strip().startswith("#")):
        return None
    place = module.offset((statement.end_lineno or statement.lineno) + 1, 0)
    lead = "" if rest.endswith(("\n", "\r")) else _newline(module)
    return Edit(place, place, f"{lead}{indent}{text}{_newline(module)}")


def _newline(module: Module) -> str:
    first = module.lines[0] if module.lines else "\n"
    return "\r\n" if first.endswith("\r\n") else "\n"
