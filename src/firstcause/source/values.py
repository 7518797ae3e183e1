"""The number that an expression has, where the code alone says it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.project import Project

Number = int | float
MAX_DEPTH = 12
# A power of literals could be larger than memory.
MAX_POWER = 64

OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def number(project: Project, value: Value, depth: int = MAX_DEPTH) -> Number | None:
    """The one number that an expression can have, or None: unknown, or not the same on every way."""
    node = value.node
    if depth <= 0 or value.path:
        return _through_origins(project, value, depth) if depth > 0 else None
    if isinstance(node, ast.Constant):
        is_number = isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
        return node.value if is_number else None  # type: ignore[return-value]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = number(project, value.at(node.operand), depth - 1)
        return inner if inner is None or isinstance(node.op, ast.UAdd) else -inner
    if isinstance(node, ast.BinOp):
        return _binary(project, value, node, depth)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("int", "float")
        and node.args
    ):
        inner = number(project, value.at(node.args[0]), depth - 1)
        return inner if inner is None else int(inner) if node.func.id == "int" else float(inner)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "len"
        and len(node.args) == 1
    ):
        return _length(project, value.at(node.args[0]))
    return _through_origins(project, value, depth)


def _length(project: Project, value: Value) -> Number | None:
    """The length of a list, tuple or text that is written out."""
    found = new_walk(project).origins(value)
    if len(found) != 1 or not found[0].exact:
        return None
    node = found[0].node
    if isinstance(node, (ast.List, ast.Tuple)) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return len(node.elts)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return (
        len(node.value)
        if is_text and isinstance(node, ast.Constant) and isinstance(node.value, str)
        else None
    )


def _binary(project: Project, value: Value, node: ast.BinOp, depth: int) -> Number | None:
    left = number(project, value.at(node.left), depth - 1)
    right = number(project, value.at(node.right), depth - 1)
    function = OPERATORS.get(type(node.op))
    if left is None or right is None or function is None:
        return None
    if isinstance(node.op, ast.Pow) and abs(right) > MAX_POWER:
        return None
    try:
        result = function(left, right)
    except (ArithmeticError, ValueError):
        return None
    return result if isinstance(result, (int, float)) else None


def _through_origins(project: Project, value: Value, depth: int) -> Number | None:
    numbers: set[Number] = set()
    for origin in new_walk(project).origins(value):
        if not origin.exact or origin.value is None or origin.value.node is value.node:
            return None
        inner = number(project, origin.value, depth - 1)
        if inner is None:
            return None
        numbers.add(inner)
    return numbers.pop() if len(numbers) == 1 else None
