"""The number that an expression has, where the code alone says it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from firstcause.source.configs.lookup import looked_up
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import variable
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


def _shifted(number: Number, by: Number) -> Number:
    if not 0 <= by <= MAX_POWER:
        raise OverflowError(by)
    return int(number) << int(by)


OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: _shifted,
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
    entry = looked_up(new_walk(project), node) if isinstance(node, ast.Call) else None
    if entry is not None:
        return number(project, Value(*entry), depth - 1)
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
            said = environment(project, value.at(node.args[0]))
            inner = of_text(said[1].value) if said is not None else None
        return inner if inner is None else int(inner) if node.func.id == "int" else float(inner)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "len"
        and len(node.args) == 1
    ):
        return _length(project, value.at(node.args[0]))
    return _through_origins(project, value, depth)


def environment(project: Project, value: Value) -> tuple[Module, ast.Constant, bool] | None:
    """What a read of an environment variable gives: where that stands, its text, and whether it is only the default.

    The scripts that start the program come first, then what ``os.environ.get(name, default)`` gives without them.
    """
    name = _variable(project, value)
    said = variable(project, value.module, name) if name else None
    if said is not None and isinstance(said[1], ast.Constant):
        return said[0], said[1], False
    given = value.node.args[1:] if name and isinstance(value.node, ast.Call) else []
    if len(given) == 1 and isinstance(given[0], ast.Constant):
        return value.module, given[0], True
    return None


def is_unset(project: Project, value: Value) -> bool:
    """Whether an expression reads an environment variable that nothing here sets and that has no default."""
    return bool(_variable(project, value)) and environment(project, value) is None


def _variable(project: Project, value: Value) -> str:
    """The name of the environment variable that an expression reads; empty for any other expression."""
    node = value.node
    name: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.Name, ast.Attribute)):
        name = node.slice if external(resolve(project, value.module, node.value)) == "os.environ" else None
    elif isinstance(node, ast.Call) and node.args:
        name = node.args[0] if external(resolve(project, value.module, node.func)) in _READS else None
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""


def _is_process_count(project: Project, value: Value) -> bool:
    """Whether an expression is the number of processes that run the program."""
    node = value.node
    if isinstance(node, ast.Attribute):
        return node.attr in _OF_AN_OBJECT and isinstance(node.ctx, ast.Load)
    is_count = isinstance(node, ast.Call) and external(resolve(project, value.module, node.func)) in _COUNTS
    return is_count or _variable(project, value) == _VARIABLE


def of_text(value: object) -> Number | None:
    """The number that a text is; None for any other text, "nan" and "inf" among them."""
    text = str(value).strip()
    if not text.lstrip("+-.")[:1].isdigit():
        return None
    try:
        return int(text) if text.isdigit() else float(text)
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
        said = environment(project, Value(module, text))
        text = said[1] if said is not None else None
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
