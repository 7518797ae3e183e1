"""The arguments of a call by name, those of a mapping among them that ``**`` spreads and that is written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

# Methods after which a mapping may lack what it was written with.
_TAKES_OUT = frozenset({"pop", "popitem", "clear"})
_DEPTH = 3


def named_arguments(call: Call) -> Iterator[tuple[str, Module, ast.expr]]:
    """Each argument with the file and the expression of its value."""
    for keyword in call.node.keywords:
        if keyword.arg is not None:
            yield keyword.arg, call.module, keyword.value
        else:
            yield from _entries(call.code, call.module, keyword.value, _DEPTH)


def _entries(
    code: Code, module: Module, node: ast.expr, depth: int
) -> Iterator[tuple[str, Module, ast.expr]]:
    """What a mapping surely holds: one place alone makes it, and nothing takes an entry out of it again."""
    if not depth or _is_emptied(module, node):
        return
    found = code.origins(module, node)
    if len(found) != 1 or not found[0].exact:
        return
    where, made = found[0].module, found[0].node
    if isinstance(made, ast.Dict):
        for key, value in zip(made.keys, made.values, strict=True):
            if key is None:
                yield from _entries(code, where, value, depth - 1)
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, where, value
    elif isinstance(made, ast.Call) and last_name(made.func) == "dict" and isinstance(made.func, ast.Name):
        for keyword in made.keywords:
            if keyword.arg is not None:
                yield keyword.arg, where, keyword.value
            else:
                yield from _entries(code, where, keyword.value, depth - 1)


def _is_emptied(module: Module, node: ast.expr) -> bool:
    """Whether the file takes something out of what is called so: ``settings.pop("x")``, ``del settings["x"]``."""
    if isinstance(node, (ast.Dict, ast.Call)):
        return False
    written = ast.unparse(node)
    calls = (c.func for c in module.nodes(ast.Call) if isinstance(c.func, ast.Attribute))
    if any(f.attr in _TAKES_OUT and ast.unparse(f.value) == written for f in calls):
        return True
    return any(
        isinstance(t, ast.Subscript) and ast.unparse(t.value) == written
        for d in module.nodes(ast.Delete)
        for t in d.targets
    )
