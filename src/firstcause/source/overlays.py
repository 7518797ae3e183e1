"""Loops that lay one mapping's entries over another's: the command line over what a config file says."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.steps import Step, constant_key

Laid = tuple[ast.expr, Step]


def laid_over(loop: ast.For | ast.AsyncFor, name: str, key: str) -> Iterator[Laid]:
    """What ``name[key]`` is given by a loop over keys, and the step to its entry there.

    ``for k in ("lr", "epochs"): cfg[k] = getattr(args, k)``, ``= args[k]`` and ``for k, v in vars(args).items(): cfg[k] = v``.
    """
    target = loop.target
    first = target.elts[0] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
    if not isinstance(first, ast.Name) or not _may_be(loop.iter, key):
        return
    for node in ast.walk(loop):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        stored = node.targets[0]
        if (
            isinstance(stored, ast.Subscript)
            and isinstance(stored.value, ast.Name)
            and stored.value.id == name
            and isinstance(stored.slice, ast.Name)
            and stored.slice.id == first.id
        ):
            found = _entry(node.value, first.id, key) or _item(loop, node.value, key)
            if found is not None:
                yield found


def _may_be(keys: ast.expr, wanted: str) -> bool:
    """Whether a key is among those that are gone through, where they are written out."""
    if isinstance(keys, (ast.Tuple, ast.List, ast.Set)):
        return any(constant_key(k) == wanted for k in keys.elts)
    return True


def _entry(value: ast.expr, variable: str, key: str) -> Laid | None:
    """``getattr(args, k)`` and ``other[k]``."""
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "getattr" and len(value.args) >= 2:
        named = value.args[1]
        return (value.args[0], Step("attr", key)) if getattr(named, "id", "") == variable else None
    if isinstance(value, ast.Subscript) and getattr(value.slice, "id", "") == variable:
        return value.value, Step("item", key)
    return None


def _item(loop: ast.For | ast.AsyncFor, value: ast.expr, key: str) -> Laid | None:
    """The second target of a loop over ``….items()``."""
    called = loop.iter
    if (
        isinstance(loop.target, ast.Tuple)
        and isinstance(loop.target.elts[1], ast.Name)
        and getattr(value, "id", "") == loop.target.elts[1].id
        and isinstance(called, ast.Call)
        and isinstance(called.func, ast.Attribute)
        and called.func.attr == "items"
    ):
        return called.func.value, Step("item", key)
    return None
