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
    "sku",
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
            if subject is None or not (_whole(node) and (id(node) in indices or _named(subject))):
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
        if isinstance(node.func, ast.Attribute) and not (
            isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "np", "numpy")
        ):
            return node.func.value
        return node.args[0] if node.args else None
    return None


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


def _indices(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Subscript):
        yield node.slice
    elif isinstance(node, ast.Call):
        name = name_of(node).lower()
        if (
            name in ("embedding", "gather", "index_select", "one_hot", "take", "nll_loss")
            or "emb" in name
            or "table" in name
        ):
            yield from node.args
        elif name in ("cross_entropy",):
            yield from node.args[1:]


def _named(subject: ast.expr) -> bool:
    """Whether it is ids by its name, read as they are: what is counted or summed from them is none."""
    while isinstance(subject, (ast.Call, ast.Subscript)):
        if isinstance(subject, ast.Subscript):
            subject = subject.value
        elif isinstance(subject.func, ast.Attribute) and subject.func.attr in _SAME:
            subject = subject.func.value
        else:
            return False
    return bool(set(name_of(subject).lower().split("_")) & set(_IDS))
