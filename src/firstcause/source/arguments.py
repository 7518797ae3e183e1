"""Which argument of a call a parameter gets."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.module import FunctionNode
from firstcause.source.steps import Path, Step


@dataclass(frozen=True)
class Given:
    """An argument's expression, the part of it that is meant, and whether that part surely is there (``**kwargs``)."""

    node: ast.expr
    path: Path = ()
    sure: bool = True


def argument(call: ast.Call, position: int | None, name: str | None) -> Given | None:
    """The argument at a position (0-based, after ``self``) or of a name; None where the call does not give it."""
    for keyword in call.keywords:
        if keyword.arg is not None and keyword.arg == name:
            return Given(keyword.value)
    if position is not None:
        for index, value in enumerate(call.args[: position + 1]):
            if isinstance(value, ast.Starred):
                return Given(value.value, (Step("item", position - index),), sure=False)
            if index == position:
                return Given(value)
    for keyword in call.keywords:
        if keyword.arg is None and name is not None:
            return Given(keyword.value, (Step("item", name),), sure=False)
    return None


def spread(call: ast.Call, name: str) -> list[Given]:
    """What each ``**`` of a call would give for a name, the last first: it is the one that is taken."""
    mappings = [k.value for k in call.keywords if k.arg is None]
    return [Given(m, (Step("item", name),), sure=False) for m in reversed(mappings)]


def bound(
    function: FunctionNode, name: str, call: ast.Call, implicit: int, skip: int, path: Path
) -> tuple[Given | None, Path]:
    """What a call gives to a parameter, and what remains of the path after taking a star parameter apart."""
    arguments = function.args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    first = path[0] if path else None
    if arguments.vararg is not None and arguments.vararg.arg == name:
        start = len(positional) - implicit + skip
        if first is not None and first.kind == "item" and isinstance(first.key, int) and first.key >= 0:
            return argument(call, start + first.key, None), path[1:]
        rest = call.args[start:]
        if first is not None and first.kind in ("iter", "item", "child") and len(rest) == 1:
            only = rest[0]
            if isinstance(only, ast.Starred):
                return Given(only.value, (), sure=False), path
            return Given(only), path[1:]
        return None, path
    if arguments.kwarg is not None and arguments.kwarg.arg == name:
        if first is not None and isinstance(first.key, str):
            return argument(call, None, first.key), path[1:]
        return None, path
    position = positional.index(name) - implicit + skip if name in positional else None
    return argument(call, position, name), path


def default(function: FunctionNode, name: str) -> ast.expr | None:
    """The default value of a parameter."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = list(
        zip(reversed(positional), reversed(arguments.defaults), strict=False)
    )
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    return next((value for parameter, value in pairs if parameter.arg == name), None)


def is_given_data(call: ast.Call) -> bool:
    """Not with nothing, nor with numbers alone as ``x.size(-1)`` is: whatever object is called so computes nothing of data."""
    given = [*call.args, *(k.value for k in call.keywords)]
    plain = (a.operand if isinstance(a, ast.UnaryOp) else a for a in given)
    return not all(isinstance(a, ast.Constant) and isinstance(a.value, (int, float)) for a in plain)
