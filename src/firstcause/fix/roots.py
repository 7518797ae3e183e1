"""Roots in the user's code: sqrt, and powers with an exponent between 0 and 1."""

from __future__ import annotations

import ast

from firstcause.fix.operations import call_operand
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.values import number

ROOTS = frozenset({"sqrt"})
POWERS = frozenset({"pow", "float_power"})


def root_operand(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    """What a root is taken of; None for an expression that is no root."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return node.left if _is_root(project, module, node.right) else None
    operand = call_operand(project, module, node, ROOTS)
    if operand is None and isinstance(node, ast.Call):
        operand = call_operand(project, module, node, POWERS)
        is_method = (
            operand is not None and isinstance(node.func, ast.Attribute) and operand is node.func.value
        )
        exponent = argument(node, 0 if is_method else 1, "exponent")
        if exponent is None or not _is_root(project, module, exponent.node):
            return None
    return operand


def _is_root(project: Project, module: Module, exponent: ast.expr) -> bool:
    value = number(project, Value(module, exponent))
    return value is not None and 0 < value < 1


def root_behind(project: Project, module: Module, node: ast.expr) -> tuple[Module, ast.expr] | None:
    """The operand of the root that computes a value, and its file; None where something else computes it."""
    for origin in value_origins(project, Value(module, node)):
        if isinstance(origin.node, ast.expr) and origin.exact:
            operand = root_operand(project, origin.module, origin.node)
            return (origin.module, operand) if operand is not None else None
    return None
