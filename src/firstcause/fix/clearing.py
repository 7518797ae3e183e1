"""The statements of a training step: the optimizer's step and who takes it, the backward call, the clearing."""

from __future__ import annotations

import ast

from firstcause.fix.operations import Facts, module_of
from firstcause.fix.scopes import statement_at
from firstcause.source import Module, Project


def statement_of(place: Facts | None, project: Project) -> tuple[Module, ast.stmt] | None:
    """The file and the innermost statement at a place of the facts."""
    module = module_of(place, project) if place else None
    statement = statement_at(module, place) if module is not None and place else None
    return (module, statement) if module is not None and statement is not None else None


def optimizer_of(module: Module, statement: ast.stmt) -> str | None:
    """The text of ``opt`` in a statement ``opt.step()`` or ``scaler.step(opt)``; None for a closure or anything else."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            if not node.args and not node.keywords:
                return module.segment(node.func.value)
            if len(node.args) == 1 and isinstance(node.args[0], (ast.Name, ast.Attribute)):
                # A scaler takes the optimizer; an optimizer takes a closure, which is a function of this file.
                name = node.args[0].id if isinstance(node.args[0], ast.Name) else ""
                is_closure = any(f.name == name for f in module.nodes(ast.FunctionDef))
                return None if is_closure else module.segment(node.args[0])
    return None


def calls_in(module: Module, node: ast.AST, method: str) -> list[ast.Call]:
    """The calls ``x.method()`` beneath a node, in the order of the text."""
    found = [
        n
        for n in ast.walk(node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == method
    ]
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def scope_of(module: Module, node: ast.AST) -> ast.AST:
    """The function around a node, or the file."""
    return module.function(node) or module.tree
