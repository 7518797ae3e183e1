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
    parts = _parts(loop.iter)
    if not parts:
        return None
    plain = copy.deepcopy(loop)
    names = {n.id for n in ast.walk(plain.target) if isinstance(n, ast.Name)}
    call = plain.iter
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        call.args = [_numbers(arg) if _is_plain(arg) else arg for arg in call.args]
    else:
        plain.iter = _numbers(plain.iter)
    plain.body = [_Items(names).visit(s) for s in plain.body]
    return [plain]


def _parts(iterated_over: ast.expr) -> list[ast.expr]:
    if isinstance(iterated_over, ast.Call) and isinstance(iterated_over.func, ast.Name):
        if iterated_over.func.id not in ("zip", "enumerate") or iterated_over.keywords:
            return []
        return [arg for arg in iterated_over.args if _is_plain(arg)]
    return [iterated_over] if _is_plain(iterated_over) else []


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
