"""A loop that takes a tensor apart element by element, written over the tensor's list of numbers."""

from __future__ import annotations

import ast
import copy

# What gives the elements of a tensor one by one, if it is called on one.
FLAT = frozenset({"flatten", "ravel", "view", "reshape", "cpu", "detach", "squeeze", "argmax", "unbind"})


def iterated(loop: ast.For) -> list[ast.stmt] | None:
    """The loop over ``x.tolist()`` for each ``x`` that it goes through; None where it goes through no plain value.

    Whether ``x`` is a tensor does not show in the source: where it is none, the changed program fails, and nothing is said.
    """
    plain = copy.deepcopy(loop)
    over = _of_numbers(plain.iter)
    if over is None:
        return None
    plain.iter = over
    names = {n.id for n in ast.walk(plain.target) if isinstance(n, ast.Name)}
    plain.body = [_Items(names).visit(s) for s in plain.body]
    return [plain]


def _of_numbers(over: ast.expr) -> ast.expr | None:
    """What the changed loop goes through; None where nothing in it is a plain value."""
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name):
        return _numbers(over) if _is_plain(over) else None
    if over.func.id not in ("zip", "enumerate") or over.keywords or not any(map(_is_plain, over.args)):
        return None
    over.args = [_numbers(arg) if _is_plain(arg) else arg for arg in over.args]
    return over


def _is_plain(value: ast.expr) -> bool:
    """A name or an attribute, or the elements of one laid out flat."""
    if isinstance(value, ast.Call):
        method = value.func
        return isinstance(method, ast.Attribute) and method.attr in FLAT and _is_plain(method.value)
    if isinstance(value, ast.Subscript):
        return _is_plain(value.value)
    return isinstance(value, (ast.Name, ast.Attribute))


def _numbers(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(value, "tolist", ast.Load()), [], [])


class _Items(ast.NodeTransformer):
    """``p.item()`` of a number is the number."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        method = node.func
        held = method.value if isinstance(method, ast.Attribute) and method.attr == "item" else None
        if isinstance(held, ast.Name) and held.id in self.names and not node.args:
            return held
        return self.generic_visit(node)
