"""Squashing functions between layers: where they are called or built, and another function in their place."""

from __future__ import annotations

import ast

from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of
from firstcause.fix.rewrite import replaced
from firstcause.source import Module, Project

BUILT = {"sigmoid": "Sigmoid", "tanh": "Tanh"}


def hidden(facts: Facts, project: Project) -> list[tuple[Module, ast.expr]]:
    """The names to replace: those called on the facts' line, else those built anywhere but at the end of a Sequential."""
    kind = str(facts.get("activation") or "")
    module = module_of(facts, project)
    if module is not None:
        called = [
            (module, n.func)
            for n in module.nodes_on(int(facts["line"]))
            if isinstance(n, ast.Call) and _last(n.func) == kind
        ]
        if called:
            return called
    return [
        (m, node)
        for m in project.modules
        for node in (*m.nodes(ast.Attribute), *m.nodes(ast.Name))
        if _last(node) == BUILT.get(kind) and not _is_end(m, node)
    ]


def with_relu(found: list[tuple[Module, ast.expr]]) -> list[Edit]:
    """Edits that put the rectifier in their place."""
    edits = []
    for module, node in found:
        text = module.segment(node)
        name = _last(node)
        new = "ReLU" if name in BUILT.values() else "relu"
        edits.append(replaced(module, node, text[: -len(name)] + new))
    return edits


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_end(module: Module, node: ast.expr) -> bool:
    call = module.parents.get(node)
    around = module.parents.get(call) if call is not None else None
    return (
        isinstance(around, ast.Call)
        and _last(around.func) == "Sequential"
        and bool(around.args)
        and around.args[-1] is call
    )
