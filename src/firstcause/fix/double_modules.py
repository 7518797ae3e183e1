"""A module that is turned to float64 where it is made, or as a whole: the expression that does it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.fix.bindings import attribute_binding
from firstcause.fix.dtypes import DOUBLE, NAMES
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import replaced
from firstcause.source import Module, Project
from firstcause.source.walk import Hop


def double_module(birth: Facts, project: Project) -> Hop | None:
    """Where a layer's parameters become float64: at one of its ``holders``, else where the program does it only once."""
    for class_name, attribute in birth.get("holders") or []:
        bound = attribute_binding(project, str(class_name), str(attribute))
        found = list(_turned(bound.statement)) if bound is not None else []
        if bound is not None and len(found) == 1:
            return Hop(bound.module, found[0])
    everywhere = [Hop(m, e) for m in project.modules for e in _turned(m.tree) if _is_of_a_module(m, e)]
    return everywhere[0] if len(everywhere) == 1 else None


def single_module(place: Hop) -> list[Edit]:
    """The edits that leave the module in float32; none where the dtype is no word of its own."""
    node, module = place.node, place.module
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("double", "to")
    ):
        return [replaced(module, node, module.segment(node.func.value))]
    return []


def _turned(tree: ast.AST) -> Iterator[ast.expr]:
    """``x.double()``, ``x.to(torch.float64)``, and layers that are made with ``dtype=torch.float64``."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        named = [k.value for k in node.keywords if k.arg == "dtype"]
        given = [*node.args, *named]
        whole = (method == "double" and not given) or (
            method == "to" and len(given) == 1 and _is_double(given[0])
        )
        if whole or (method[:1].isupper() and any(map(_is_double, named))):
            yield node


def _is_double(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and NAMES.get(node.attr) == DOUBLE


def _is_of_a_module(module: Module, node: ast.expr) -> bool:
    """Whether what is turned is called as a whole, trained or put into an optimizer: a module, and no tensor."""
    held = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    while isinstance(held, ast.Call) and isinstance(held.func, ast.Attribute):
        if held.func.attr[:1].isupper():
            return True
        held = held.func.value
    if isinstance(held, ast.Call):
        return isinstance(held.func, ast.Name) and held.func.id[:1].isupper()
    if not isinstance(held, ast.Name):
        return False
    return f"{held.id}.parameters(" in module.text or f"{held.id}.train(" in module.text
