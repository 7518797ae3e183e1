"""The steps by which a part is taken out of a value: an attribute, an item, each element, a child module."""

from __future__ import annotations

import ast
from typing import Literal, NamedTuple

StepKind = Literal["attr", "item", "iter", "child"]


# A tuple is made and hashed in a third of the time of a frozen class.
class Step(NamedTuple):
    """One projection: ``attr`` and ``child`` with a name, ``item`` with a key (None: any), ``iter`` for any element."""

    kind: StepKind
    key: str | int | None = None


Path = tuple[Step, ...]
EACH = Step("iter")


def unpacked(target: ast.expr, wanted: ast.expr) -> Path | None:
    """The path from an assigned value to the part that lands in ``wanted``, a node within ``target``."""
    if target is wanted:
        return ()
    if isinstance(target, ast.Starred):
        return unpacked(target.value, wanted)
    if isinstance(target, (ast.Tuple, ast.List)):
        starred = next((i for i, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
        for index, element in enumerate(target.elts):
            inner = unpacked(element, wanted)
            if inner is None:
                continue
            if starred is None or index < starred:
                return (Step("item", index), *inner)
            if index == starred:
                return inner
            return (Step("item", index - len(target.elts)), *inner)
    return None


def value_at(value: ast.expr, path: Path) -> tuple[ast.expr, Path]:
    """The element that a path takes from a tuple or list written out, and what is left of the path."""
    while path and path[0].kind == "item" and isinstance(value, (ast.Tuple, ast.List)):
        index = path[0].key
        starred = any(isinstance(e, ast.Starred) for e in value.elts)
        if starred or not isinstance(index, int) or not -len(value.elts) <= index < len(value.elts):
            break
        value, path = value.elts[index], path[1:]
    return value, path


def constant_key(node: ast.expr) -> str | int | None:
    """The key of a subscript where it is a literal string or whole number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant_key(node.operand)
        return -inner if isinstance(inner, int) else None
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (str, int))
        and not isinstance(node.value, bool)
    ):
        return node.value
    return None
