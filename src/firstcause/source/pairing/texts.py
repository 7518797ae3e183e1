"""A statement's text: with some of its expressions written otherwise, or in one line."""

from __future__ import annotations

import ast

from firstcause.source.module import Module


def changed(module: Module, statement: ast.stmt | ast.expr, *changes: tuple[ast.expr, str]) -> str:
    """The text of ``statement``, each named expression within it replaced."""
    begin, whole = module.span(statement)[0], module.segment(statement)
    for node, text in sorted(changes, key=lambda c: module.span(c[0]), reverse=True):
        first, last = module.span(node)
        whole = whole[: first - begin] + text + whole[last - begin :]
    return whole


def one_line(module: Module, node: ast.AST) -> str:
    """The text of a node without its breaks, to be quoted."""
    return " ".join(module.segment(node).split())
