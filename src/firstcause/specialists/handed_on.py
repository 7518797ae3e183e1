"""Whether a function is handed what a loop draws, or what its caller has computed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.project import Project

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# What leaves the values as they were drawn.
KEEPING = frozenset(
    {"to", "cuda", "cpu", "float", "double", "half", "pin_memory", "contiguous", "clone", "detach"}
)


def is_drawn(project: Project | None, function: str, line: int, parameter: str) -> bool:
    """Whether each call of a function of the program's gives this parameter from what a loop goes through.

    True too where the program never calls it itself: a library does, with the batches of its own loop.
    """
    modules = project.modules if project is not None else ()
    found = (n for m in modules for n in m.nodes(ast.FunctionDef, ast.AsyncFunctionDef))
    functions = (n for n in found if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)))
    defined = [n for n in functions if n.name == function and n.lineno == line]
    if len(defined) != 1:
        return False
    names = [a.arg for a in (*defined[0].args.posonlyargs, *defined[0].args.args)]
    calls = [(m, c) for m in modules for c in m.nodes(ast.Call) if last_name(c.func) == function]
    return all(_given(module, call, names, parameter) for module, call in calls)


def _given(module: Module, call: ast.Call, names: list[str], parameter: str) -> bool:
    bound = names[1:] if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute) else names
    value = next((k.value for k in call.keywords if k.arg == parameter), None)
    if value is None and parameter in bound and len(call.args) > bound.index(parameter):
        value = call.args[bound.index(parameter)]
    root = _root(value) if value is not None else None
    return root is not None and root in set(_drawn(module, call))


def _root(node: ast.expr) -> str | None:
    """The name that a value is read from, through casts, moves and items."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPING
        ):
            node = node.func.value
        elif isinstance(node, ast.Name):
            return node.id
        else:
            return None


def _drawn(module: Module, call: ast.Call) -> Iterator[str]:
    """The names that the loops around a call draw, and those that are taken from them."""
    targets: set[str] = set()
    for node in module.ancestors(call):
        if isinstance(node, (ast.For, ast.AsyncFor)):
            targets |= _names(node.target)
        if isinstance(node, COMPREHENSIONS):
            targets |= {name for g in node.generators for name in _names(g.target)}
    function = module.function(call) or module.tree
    assigned = [n for n in ast.walk(function) if isinstance(n, ast.Assign)]
    for node in assigned:
        of_next = isinstance(node.value, ast.Call) and last_name(node.value.func) == "next"
        parts = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
        if of_next or all(_root(p) in targets for p in parts):
            targets |= {name for target in node.targets for name in _names(target)}
    yield from targets


def _names(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
