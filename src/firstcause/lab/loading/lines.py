"""A sample fetched under a line trace: what each line made of it, and where a line asks for more than there is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from firstcause.lab import places
from firstcause.lab.loading import frames
from firstcause.lab.loading.forms import shape
from firstcause.lab.statements import Statements

Facts = dict[str, Any]
MOST = 4000
SIZES = frozenset({"len", "size", "int", "min", "max", "round", "dim", "float"})


class Lines:
    """``made`` are (place, name, shape, kind) in order; ``short`` the slices and differences that do not work out, by text."""

    def __init__(self, statements: Statements) -> None:
        self.statements = statements
        self.made: list[tuple[Facts, str, list[int], str]] = []
        self.short: dict[str, Facts] = {}
        self.fine: set[str] = set()
        self.sizes: dict[str, dict[str, list[int]]] = {}
        self.before: dict[int, tuple[int, dict[str, int]]] = {}
        self.error: BaseException | None = None

    def fetch(self, fetch: Any) -> None:
        """Run ``fetch`` and look on; what it raises is kept in ``error``."""
        sys.settrace(self._called)
        try:
            fetch()
        except Exception as error:  # noqa: BLE001 - that is what is looked at
            self.error = error
        finally:
            sys.settrace(None)

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return (
            self._traced if places.is_user_file(frame.f_code.co_filename) and len(self.made) < MOST else None
        )

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event not in ("line", "return"):
            return self._traced
        space = dict(frame.f_locals)
        line, known = self.before.get(id(frame), (frame.f_lineno, {}))
        place = places.place(frame.f_code.co_filename, line, frame.f_code.co_name)
        for name, value in space.items():
            if known.get(name) != id(value):
                self._note(place, name, value)
        if event == "return":
            self.before.pop(id(frame), None)
            if argument is not None:
                self._note(place | {"line": frame.f_lineno}, "", argument)
            return self._traced
        self.before[id(frame)] = (frame.f_lineno, {n: id(v) for n, v in space.items()})
        self._measure(frame, space)
        return self._traced

    def _note(self, place: Facts, name: str, value: Any) -> None:
        for number, one in enumerate(value if isinstance(value, tuple) and not name else (value,)):
            size = shape(one)
            if size is not None and not isinstance(one, (str, bytes, dict, set)):
                self.made.append(
                    (place, name or f"return[{number}]", size, type(one).__module__.partition(".")[0])
                )

    def _measure(self, frame: FrameType, space: dict[str, Any]) -> None:
        path, line = frame.f_code.co_filename, frame.f_lineno
        self.sizes[f"{path}:{line}"] = frames.sizes(space)
        statement = self.statements.at(path, line)
        if statement is None:
            return
        names = {**frame.f_builtins, **frame.f_globals, **space}
        for node in ast.walk(statement):
            for key, found in (*_slices(node, names), *_differences(node, names)):
                where = f"{path}:{line}:{key}"
                if found is None:
                    self.fine.add(where)
                else:
                    place = places.place(path, line, frame.f_code.co_name)
                    self.short[where] = found | {"site": place, "text": key}


def _slices(node: ast.AST, names: dict[str, Any]) -> Iterator[tuple[str, Facts | None]]:
    """Slices of a value whose end lies behind the value's own: Python gives less, and says nothing."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    axes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    dots = next((i for i, a in enumerate(axes) if isinstance(a, ast.Constant) and a.value is ...), None)
    for number, one in enumerate(axes):
        if not isinstance(one, ast.Slice) or one.upper is None or one.step is not None:
            continue
        upper, lower = _value(one.upper, names), _value(one.lower, names) if one.lower is not None else 0
        held = _value(node.value, names)
        size, axis = shape(held), number
        if dots is not None and number > dots:
            axis = number - len(axes) + len(size or ())
        if not isinstance(upper, int) or not isinstance(lower, int) or size is None or axis >= len(size):
            continue
        if upper <= 0 or lower < 0 or upper <= lower:
            continue
        found = {
            "kind": "slice",
            "name": ast.unparse(node.value),
            "axis": axis,
            "of": len(size),
            "length": size[axis],
        }
        found |= {"holder": ast.unparse(node.value), "module": _library(held)}
        found |= {"wanted": upper - lower, "wanted_text": _width(one), "from_start": one.lower is None}
        yield ast.unparse(node), found if upper > size[axis] else None


def _width(one: ast.Slice) -> str:
    """The width of ``a:a + w`` as the program writes it, or the end of a slice from the start."""
    upper = one.upper
    assert upper is not None
    if one.lower is None:
        return ast.unparse(upper)
    if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
        for left, right in ((upper.left, upper.right), (upper.right, upper.left)):
            if ast.unparse(left) == ast.unparse(one.lower):
                return ast.unparse(right)
    return ""


def _differences(node: ast.AST, names: dict[str, Any]) -> Iterator[tuple[str, Facts | None]]:
    """Differences of two sizes that fall below 0."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return
    left, right = _value(node.left, names), _value(node.right, names)
    if type(left) is int and type(right) is int:
        found = {"kind": "difference", "name": ast.unparse(node.left), "length": left, "wanted": right}
        found |= {"wanted_text": ast.unparse(node.right)} | _measured(node.left, names)
        yield ast.unparse(node), found if left < right else None


def _measured(node: ast.expr, names: dict[str, Any]) -> Facts:
    """What ``len(x)``, ``x.shape[k]`` and ``x.size(k)`` are sizes of; empty for any other expression."""
    holder: ast.expr | None = None
    axis: Any = 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        holder = node.args[0]
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "size"
        and node.args
    ):
        holder, axis = node.func.value, _value(node.args[0], names)
    elif (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
    ):
        holder, axis = node.value.value, _value(node.slice, names)
    held = _value(holder, names)
    size = shape(held)
    if holder is None or size is None or not isinstance(axis, int):
        return {}
    return {
        "holder": ast.unparse(holder),
        "axis": axis % len(size),
        "of": len(size),
        "module": _library(held),
    }


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _value(node: ast.expr | None, names: dict[str, Any]) -> Any:
    """What a plain expression gives, computed once more; None where it is not plain, or cannot be."""
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.Call):
            name = part.func.attr if isinstance(part.func, ast.Attribute) else getattr(part.func, "id", "")
            if name not in SIZES:
                return None
        elif isinstance(
            part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda, ast.comprehension)
        ):
            return None
    if node is None:
        return None
    try:
        # The program's own expression, in a process that can touch nothing.
        return eval(compile(ast.Expression(node), "<measured>", "eval"), names)
    except Exception:  # noqa: BLE001 - whatever the program's expression raises the second time, it tells nothing
        return None
