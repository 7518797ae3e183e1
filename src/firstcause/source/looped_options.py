"""Options of a parser that are declared in a loop over a mapping."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.steps import Step


def looped(module: Module, name: str, places: list[Value]) -> Iterator[Value]:
    """What ``for k, v in mapping.items(): parser.add_argument(f"--{k}", default=v)`` gives an option."""
    for place in places:
        call = place.node
        if not isinstance(call, ast.Call) or place.module is not module or not call.args:
            continue
        key = _key_of(call.args[0])
        loop = next((p for p in module.ancestors(call) if isinstance(p, ast.For)), None)
        if not key or loop is None or not isinstance(loop.target, ast.Tuple):
            continue
        targets = [t.id if isinstance(t, ast.Name) else "" for t in loop.target.elts]
        default = next((k.value for k in call.keywords if k.arg == "default"), None)
        items = loop.iter.func if isinstance(loop.iter, ast.Call) else None
        of_items = isinstance(items, ast.Attribute) and items.attr == "items"
        as_given = isinstance(default, ast.Name) and targets[1:] == [default.id]
        if of_items and as_given and targets[:1] == [key] and isinstance(items, ast.Attribute):
            yield Value(module, items.value, None, (Step("item", name),))


def _key_of(node: ast.expr) -> str:
    """The name that ``f"--{name}"`` or ``"--" + name`` puts behind the dashes."""
    if isinstance(node, ast.JoinedStr) and len(node.values) == 2:
        dashes, part = node.values
        plain = isinstance(dashes, ast.Constant) and dashes.value == "--"
        inner = part.value if isinstance(part, ast.FormattedValue) else None
        return inner.id if plain and isinstance(inner, ast.Name) else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Name):
        return node.right.id if isinstance(node.left, ast.Constant) and node.left.value == "--" else ""
    return ""
