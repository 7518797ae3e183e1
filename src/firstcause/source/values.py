"""The number that an expression has, where the code alone says it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.resolve import external, resolve

Number = int | float
MAX_DEPTH = 12
# A power of literals could be larger than memory.
MAX_POWER = 64
# Under this name a project's memory holds how many processes run it, where somebody said so.
PROCESSES = "processes"
_COUNTS = ("torch.distributed.get_world_size", "torch.cuda.device_count")
_OF_AN_OBJECT = ("num_processes", "world_size")
_VARIABLE = "WORLD_SIZE"
_READS = ("os.environ.get", "os.getenv")

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
    processes = project.memory.get(PROCESSES)
    if processes is not None and _is_process_count(project, value):
        return int(processes)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("int", "float")
        and node.args
    ):
        inner = number(project, value.at(node.args[0]), depth - 1)
        if inner is None:
            inner = _of_text(environment_default(project, value.at(node.args[0])))
        return inner if inner is None else int(inner) if node.func.id == "int" else float(inner)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "len"
        and len(node.args) == 1
    ):
        return _length(project, value.at(node.args[0]))
    return _through_origins(project, value, depth)


def environment_default(project: Project, value: Value) -> ast.Constant | None:
    """What ``os.environ.get(name, default)`` gives where the variable is not set."""
    node = value.node
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return None
    is_read = external(resolve(project, value.module, node.func)) in _READS
    return node.args[1] if is_read and isinstance(node.args[1], ast.Constant) else None


def _is_process_count(project: Project, value: Value) -> bool:
    """Whether an expression is the number of processes that run the program."""
    node = value.node
    if isinstance(node, ast.Attribute):
        return node.attr in _OF_AN_OBJECT and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Subscript):
        name: ast.AST | None = node.slice
        where = external(resolve(project, value.module, node.value))
        is_variable = where == "os.environ"
    elif isinstance(node, ast.Call):
        where = external(resolve(project, value.module, node.func))
        if where in _COUNTS:
            return True
        name, is_variable = (node.args[0] if node.args else None), where in _READS
    else:
        return False
    return is_variable and isinstance(name, ast.Constant) and name.value == _VARIABLE


def _of_text(node: ast.Constant | None) -> Number | None:
    text = str(node.value) if node is not None else ""
    try:
        return int(text) if text.strip().isdigit() else float(text)
    except ValueError:
        return None


def _length(project: Project, value: Value) -> Number | None:
    """The length of a list, tuple or text that is written out, or of a text that is split."""
    found = new_walk(project).origins(value)
    if len(found) != 1 or not found[0].exact:
        return None
    node = found[0].node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        return _pieces(project, found[0].module, node)
    if isinstance(node, (ast.List, ast.Tuple)) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return len(node.elts)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return (
        len(node.value)
        if is_text and isinstance(node, ast.Constant) and isinstance(node.value, str)
        else None
    )


def _pieces(project: Project, module: Module, call: ast.Call) -> Number | None:
    assert isinstance(call.func, ast.Attribute)
    texts = [o.node for o in new_walk(project).origins(Value(module, call.func.value))]
    text: ast.AST | None = texts[0] if len(texts) == 1 else None
    if isinstance(text, ast.Call):
        text = environment_default(project, Value(module, text))
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str) or call.keywords:
        return None
    by = [a.value if isinstance(a, ast.Constant) else None for a in call.args]
    separator = by[0] if len(by) == 1 else None
    if by and not (isinstance(separator, str) and separator):
        return None
    return len(text.value.split(separator if isinstance(separator, str) else None))


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
