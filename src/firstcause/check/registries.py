"""Library classes that are chosen by a name: ``OPTIMIZERS[name](…)``, ``getattr(torch.optim, name)(…)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.check.code import Call, Code
from firstcause.check.constants import Named
from firstcause.check.library_names import shortest
from firstcause.schema.site import Site
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve


@dataclass(frozen=True, eq=False)
class Chosen:
    """The call, and where the name stands that chooses it."""

    call: Call
    site: Site


def chosen_calls(code: Code, *prefixes: str) -> list[Chosen]:
    """The calls of library classes whose names begin so, and that a name chooses which the code alone says."""
    known: list[Chosen] | None = code.project.memory.get("chosen calls")
    if known is None:
        known = code.project.memory["chosen calls"] = [c for m in code.modules for c in _of(code, m)]
    return [c for c in known if c.call.name.startswith(prefixes)]


def _of(code: Code, module: Module) -> list[Chosen]:
    picked: dict[tuple[ast.AST | None, str], ast.expr] = {}
    for node in module.nodes(ast.Assign):
        if _key(node.value) is not None and isinstance(node.targets[0], ast.Name):
            picked[module.function(node), node.targets[0].id] = node.value
    found = []
    for call in module.nodes(ast.Call):
        func = call.func
        if isinstance(func, ast.Name):
            func = picked.get((module.function(call), func.id), func)
        key = _key(func)
        name = _name(code, module, func) if key is not None else ""
        if key is not None and name:
            said = code.constant(module, key)
            site = said.site if said is not None else module.site(call)
            found.append(Chosen(Call(code, module, call, name), site))
    return found


def _key(node: ast.expr) -> ast.expr | None:
    """What chooses: the key of a table, or the name of an attribute."""
    if isinstance(node, ast.Subscript):
        return node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return node.args[1] if len(node.args) > 1 else None
    return None


def _name(code: Code, module: Module, node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        key = code.constant(module, node.args[1])
        owner = external(resolve(code.project, module, node.args[0]))
        return shortest(f"{owner}.{key.value}") if owner and key is not None else ""
    known = code.constant(module, node)
    return known.value.name if known is not None and isinstance(known.value, Named) else ""
