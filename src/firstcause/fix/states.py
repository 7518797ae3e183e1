"""Where a module's own tensor is made: the buffer, parameter or plain attribute of a class."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source import Module, Project


@dataclass(frozen=True)
class State:
    """The statement that makes an attribute, the call that registers it if one does, and the value."""

    module: Module
    node: ast.Call | ast.Assign | ast.AnnAssign
    value: ast.expr


def states(project: Project, class_name: str, name: str) -> list[State]:
    """The places where objects of a class get the attribute; of any class where none is named."""
    found = []
    for module in project.modules:
        for cls in ast.walk(module.tree):
            if isinstance(cls, ast.ClassDef) and (not class_name or cls.name == class_name):
                found += [s for n in ast.walk(cls) if (s := _state(module, n, name)) is not None]
    return found


def _state(module: Module, node: ast.AST, name: str) -> State | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) > 1:
        first = node.args[0]
        is_named = isinstance(first, ast.Constant) and first.value == name
        return State(module, node, node.args[1]) if node.func.attr == "register_buffer" and is_named else None
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        is_own = any(
            isinstance(t, ast.Attribute) and t.attr == name and isinstance(t.value, ast.Name) for t in targets
        )
        return State(module, node, node.value) if is_own else None
    return None
