"""Ids or targets forced into the range: another row is read than was meant, and nothing fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, name_of

_FORCING = ("clamp", "clamp_", "clip", "clip_", "clamp_max", "clamp_max_", "minimum", "remainder", "fmod")
_IDS = (
    "id",
    "ids",
    "idx",
    "index",
    "indices",
    "token",
    "tokens",
    "label",
    "labels",
    "target",
    "targets",
    "vocab",
    "codes",
)

# Methods after which ids are the same ids.
_SAME = (
    "long",
    "int",
    "to",
    "view",
    "reshape",
    "flatten",
    "squeeze",
    "unsqueeze",
    "clone",
    "contiguous",
    "cpu",
    "cuda",
)


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """New clamps and remainders of what is used as an index, or is named like one."""
    for change in changes:
        added = [*change.added(ast.Call), *change.added(ast.BinOp)]
        indices = {
            id(inner)
            for node in ast.walk(change.new)
            for index in _indices(node)
            for inner in ast.walk(index)
        }
        tests = {id(n) for c in ast.walk(change.new) if isinstance(c, ast.Compare) for n in ast.walk(c)}
        for node in added:
            if isinstance(node, ast.BinOp) and id(node) in tests:
                # Every tenth step: nothing is forced.
                continue
            subject = _forced(node)
            if subject is None or not _whole(node):
                continue
            if not (id(node) in indices or _named(subject) or _looked_up(subject, node, change.new)):
                continue
            text = "ids are forced into the range: another row is read than was meant, and nothing fails"
            yield Reason("clamped-ids", f"{change.path}:{getattr(node, 'lineno', 1)}", text)


def _forced(node: ast.AST) -> ast.expr | None:
    """What a call or a remainder forces into a range."""
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and not isinstance(node.left, (ast.Constant, ast.JoinedStr))
    ):
        return node.left
    if isinstance(node, ast.Call) and name_of(node) in _FORCING:
        if isinstance(node.func, ast.Attribute) and not _of_a_module(node.func):
            return node.func.value
        return node.args[0] if node.args else None
    return None


def _of_a_module(func: ast.expr) -> bool:
    """Whether a function of a library is called, and no method of a value."""
    return isinstance(func, ast.Attribute) and name_of(func.value) in ("torch", "np", "numpy")


def _whole(node: ast.AST) -> bool:
    """Whether the bounds are whole numbers or unknown: probabilities are clamped with fractions."""
    bounds = (
        []
        if isinstance(node, ast.BinOp)
        else [*getattr(node, "args", []), *(k.value for k in getattr(node, "keywords", []))]
    )
    return not any(
        isinstance(n, ast.Constant) and isinstance(n.value, float) for b in bounds for n in ast.walk(b)
    )


def _looked_up(subject: ast.expr, node: ast.AST, tree: ast.Module) -> bool:
    """Whether further down in the same function a table is read by the same name."""
    name, line = _read_name(subject), getattr(node, "lineno", 0)
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if function.lineno <= line <= (function.end_lineno or 0) and any(
            line < call.lineno and name and name == _read_name(index)
            for call in ast.walk(function)
            if isinstance(call, ast.Call)
            for index in _indices(call)
        ):
            return True
    return False


def _indices(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call):
        name = name_of(node).lower()
        read_from_first = name in ("gather", "index_select", "take") and _of_a_module(node.func)
        if name in ("cross_entropy", "nll_loss") or read_from_first:
            yield from node.args[1:]
        elif name in ("gather", "index_select", "one_hot", "take") or "emb" in name or "table" in name:
            yield from node.args


def _named(subject: ast.expr) -> bool:
    """Whether it is ids by its name."""
    return bool(set(_read_name(subject).lower().split("_")) & set(_IDS))


def _read_name(subject: ast.expr) -> str:
    """The name of what an expression reads as it is; empty where something is counted or summed from it."""
    while isinstance(subject, (ast.Call, ast.Subscript)):
        if isinstance(subject, ast.Subscript):
            subject = subject.value
        elif isinstance(subject.func, ast.Attribute) and subject.func.attr in _SAME:
            subject = subject.func.value
        else:
            return ""
    return name_of(subject)
