"""The loops that a line takes part in."""

from __future__ import annotations

import ast

from firstcause.source.module import Module


def loops_around(module: Module, line: int) -> list[ast.stmt]:
    """The ``for`` loops around a line, outermost last, and its statement where that holds a list made by a loop."""
    around: list[ast.stmt] = [
        n for n in module.nodes(ast.For) if n.lineno <= line <= (n.end_lineno or n.lineno)
    ]
    simple = [
        s
        for s in module.nodes(ast.Assign, ast.AugAssign, ast.Return)
        if s.lineno <= line <= (s.end_lineno or s.lineno)
        and any(isinstance(n, (ast.ListComp, ast.GeneratorExp)) for n in ast.walk(s))
    ]
    return [*simple, *around]
