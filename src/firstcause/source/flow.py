"""Where a value comes from: the walk's public face."""

from __future__ import annotations

import ast

from firstcause.source.attributes import attribute
from firstcause.source.calls import call
from firstcause.source.expressions import EXPRESSIONS
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.variables import variable
from firstcause.source.walk import Effort, Origin, Walk

HANDLERS = {**EXPRESSIONS, ast.Name: variable, ast.Attribute: attribute, ast.Call: call}


def new_walk(project: Project, data: bool = False, spread: bool = False) -> Walk:
    """A walk over a project; ``data`` and ``spread`` as in ``Walk``."""
    effort = Effort(project.effort) if project.effort is not None else None
    return Walk(project, HANDLERS, data=data, spread=spread, effort=effort)


def origins(project: Project, path: str, line: int, expression: str | ast.expr) -> list[Origin]:
    """The expressions that compute a value, found through plain passing of it across functions, classes and files.

    ``expression`` is a node of the file's tree, or source text that stands on the line; empty where the
    file or the text is not found.
    """
    module = project.module(path)
    node = (
        expression if isinstance(expression, ast.expr) else find(module, line, expression) if module else None
    )
    if module is None or node is None:
        return []
    return new_walk(project).origins(Value(module, node))


def value_origins(project: Project, value: Value, data: bool = False) -> list[Origin]:
    """The origins of a value whose frame is known."""
    return new_walk(project, data=data).origins(value)


def find(module: Module, line: int, text: str) -> ast.expr | None:
    """The expression on a line that reads as ``text``, spaces aside; one that is read before one that is written."""
    try:
        wanted = ast.dump(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return None
    same = [n for n in module.nodes_on(line) if isinstance(n, ast.expr) and _dump(n) == wanted]
    starting = [n for n in same if n.lineno == line] or same
    read = [n for n in starting if isinstance(getattr(n, "ctx", ast.Load()), ast.Load)]
    return next(iter(read or starting), None)


def _dump(node: ast.expr) -> str:
    # A target differs from the same text read only in its context.
    return ast.dump(node).replace("ctx=Store()", "ctx=Load()")
