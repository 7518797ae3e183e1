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
    found = code.origins(module, node) if depth else []
    if len(found) != 1 or not found[0].exact or found[0].node in _emptied(code):
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


def _emptied(code: Code) -> set[ast.AST]:
    """The written mappings that something takes an entry out of: ``settings.pop("x")``, ``del settings["x"]``, anywhere."""
    known: set[ast.AST] | None = code.project.memory.get("emptied mappings")
    if known is None:
        places = ((m, node) for m in code.modules for node in _taken_from(m))
        known = {o.node for m, node in places for o in code.origins(m, node)}
        code.project.memory["emptied mappings"] = known
    return known


def _taken_from(module: Module) -> Iterator[ast.expr]:
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _TAKES_OUT and not _is_place(call):
            yield call.func.value
    for target in (t for d in module.nodes(ast.Delete) for t in d.targets):
        if isinstance(target, ast.Subscript):
            yield target.value


def _is_place(call: ast.Call) -> bool:
    """Whether it is of a list: ``lines.pop()``, ``lines.pop(0)``."""
    first = call.args[0] if call.args else None
    number = first.operand if isinstance(first, ast.UnaryOp) else first
    places = isinstance(number, ast.Constant) and isinstance(number.value, int)
    return isinstance(call.func, ast.Attribute) and call.func.attr == "pop" and (first is None or places)
