"""Calls that are made in two parts: ``functools.partial(AdamW, lr=1e-3)``, and what calls it later."""

from __future__ import annotations

import ast

from firstcause.check.code import Call, Code
from firstcause.check.library_names import shortest
from firstcause.source.resolve import external, resolve

PARTIAL = "functools.partial"


def whole_calls(code: Code, *names: str) -> list[Call]:
    """The calls of library functions or classes by their dotted names, those among them that ``partial`` prepares."""
    return [*code.calls(*names), *(c for c in _prepared(code) if c.name in names)]


def _prepared(code: Code) -> list[Call]:
    """For each ``partial`` the call that it comes to: its arguments, and those of its calls in the same file."""
    known: list[Call] | None = code.project.memory.get("prepared calls")
    if known is None:
        known = code.project.memory["prepared calls"] = []
        for made in code.calls(PARTIAL):
            target = made.node.args[0] if made.node.args else None
            name = (
                shortest(external(resolve(code.project, made.module, target))) if target is not None else ""
            )
            if name and target is not None:
                later = [c.node for c in code.uses_of(made) if c.module is made.module]
                uses: list[ast.Call | None] = [*later] or [None]
                known += [_joined(made, name, target, use) for use in uses]
    return known


def _joined(made: Call, name: str, target: ast.expr, use: ast.Call | None) -> Call:
    args = [*made.node.args[1:], *(use.args if use is not None else ())]
    given = {k.arg: k for k in made.node.keywords}
    given |= {k.arg: k for k in use.keywords} if use is not None else {}
    node = ast.copy_location(ast.Call(target, args, list(given.values())), made.node)
    made.module.parents[node] = made.module.parents[made.node]
    return Call(made.code, made.module, node, name)
