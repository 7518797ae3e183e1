"""What a patch adds around the program's own text: an import, a definition at the top level, a method of a class."""

from __future__ import annotations

import ast
import textwrap

from firstcause.fix.edits import Edit
from firstcause.fix.statements import newline_of
from firstcause.source import Module


def imported(module: Module, name: str) -> list[Edit]:
    """The import of a module of the standard library, where the file has none; first of the file's own imports."""
    body = module.tree.body
    plain = [s for s in body if isinstance(s, ast.Import)]
    if any(a.name == name and a.asname is None for s in plain for a in s.names):
        return []
    future = [s for s in body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    after = future[-1] if future else body[0] if is_text else None
    first = next((s for s in body if isinstance(s, (ast.Import, ast.ImportFrom)) and s not in future), None)
    line = (
        first.lineno
        if first is not None
        else (after.end_lineno or after.lineno) + 1
        if after
        else body[0].lineno
    )
    return [Edit(module.path, (line, 0), (line, 0), f"import {name}{newline_of(module)}")]


def defined_before(module: Module, node: ast.AST, text: str) -> Edit | None:
    """A definition at the top level, before the statement of the file that holds a node; two empty lines follow it."""
    holder = next((s for s in module.tree.body if _holds(s, node)), None)
    if holder is None:
        return None
    decorators = getattr(holder, "decorator_list", [])
    line = min([holder.lineno, *(d.lineno for d in decorators)])
    return Edit(module.path, (line, 0), (line, 0), f"{textwrap.dedent(text).strip()}\n\n\n")


def method_before(module: Module, method: ast.FunctionDef, text: str) -> Edit:
    """A method at its depth before another one."""
    indent = " " * method.col_offset
    line = min([method.lineno, *(d.lineno for d in method.decorator_list)])
    body = textwrap.indent(textwrap.dedent(text).strip(), indent)
    return Edit(module.path, (line, 0), (line, 0), f"{body}\n\n")


def _holds(statement: ast.stmt, node: ast.AST) -> bool:
    return any(n is node for n in ast.walk(statement))
