"""The expressions that computed a batch's numbers, from the name that the failing step had for it."""

from __future__ import annotations

import ast

from firstcause.fix.operations import Facts, module_of
from firstcause.source import Module, Origin, Project, data_origin
from firstcause.source.data import data_origin_of_name


def batch_origins(facts: Facts, project: Project) -> list[Origin]:
    """Where the numbers of the batch of the facts (``file``, ``line``, ``name``) come from; empty where it is not known."""
    name, at = str(facts.get("name") or ""), int(facts.get("line") or 0)
    module = module_of(facts, project)
    if module is None or not name:
        return []
    found = data_origin(project, module.path, at, name) or data_origin_of_name(project, name)
    if found and all(isinstance(o.node, (ast.Dict, ast.Tuple, ast.List)) for o in found):
        found = _of_part(project, module, at, name) or found
    return found


def _of_part(project: Project, module: Module, at: int, name: str) -> list[Origin]:
    """Of a dict or tuple, the origins of the one part that the line reads."""
    parts = {
        module.segment(n)
        for n in module.nodes_on(at)
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == name
    }
    return data_origin(project, module.path, at, parts.pop()) if len(parts) == 1 else []
