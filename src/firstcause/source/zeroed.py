"""Where a class sets one of its weights to zero."""

from __future__ import annotations

import ast

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.project import Project

SETS = frozenset({"zeros_", "zero_", "constant_", "fill_"})
MAKES = frozenset({"zeros", "zeros_like", "new_zeros"})


def zeroed(project: Project, class_name: str, attribute: str) -> tuple[Module, ast.Call] | None:
    """The last call that sets ``self.attribute`` of a class to zero: of ``nn.init``, of the tensor, or where it is made."""
    found: list[tuple[Module, ast.Call]] = []
    for module in project.modules:
        for cls in module.nodes(ast.ClassDef):
            if cls.name == class_name:
                found += [(module, c) for c in module.inside(cls, ast.Call) if _zeroes(module, c, attribute)]
    return max(found, key=lambda f: f[1].lineno, default=None)


def _zeroes(module: Module, call: ast.Call, attribute: str) -> bool:
    name = last_name(call.func)
    if name in SETS:
        given = call.args[0] if call.args and last_name(getattr(call.func, "value", call)) == "init" else None
        receiver = given if given is not None else getattr(call.func, "value", None)
        while isinstance(receiver, ast.Attribute) and receiver.attr in ("data", "weight"):
            receiver = receiver.value
        return isinstance(receiver, ast.Attribute) and receiver.attr == attribute
    if name not in MAKES:
        return False
    statement = module.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets)
