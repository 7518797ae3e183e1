"""Functions that put new parameters where a module had some of the same shape: what could be written in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.fix.operations import Facts
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name
from firstcause.source.module import FunctionNode


@dataclass(frozen=True, eq=False)
class Restart:
    """An assignment of a new parameter: the text of its target, and that of the values it begins with."""

    module: Module
    statement: ast.Assign
    target: str
    value: str


def restarts(facts: Facts, project: Project) -> list[Restart]:
    """All such assignments of the function that puts in the first of the missing parameters; empty where one has another shape.

    Facts: ``missing``, each with the ``name`` of the parameter in its model and the ``class`` that holds it.
    """
    missing = facts.get("missing") or []
    names = {str(m["name"]).rpartition(".")[2] for m in missing}
    classes = {m.get("class") for m in missing}
    for module in project.modules:
        for function in module.nodes(ast.FunctionDef):
            made = list(_made(module, function))
            holder = module.method_class(function)
            if (holder is not None and holder.name not in classes) or function.name == "__init__":
                continue
            if names & {t.attr for _, t, _ in made}:
                alike = all(_is_alike(module, t, v) for _, t, v in made)
                found = [Restart(module, s, module.segment(t), module.segment(v)) for s, t, v in made]
                return found if alike else []
    return []


def _made(module: Module, function: FunctionNode) -> Iterator[tuple[ast.Assign, ast.Attribute, ast.expr]]:
    """The assignments of new parameters in a function: statement, target, and the values."""
    for statement in module.inside(function, ast.Assign):
        target, made = statement.targets[0], statement.value
        one = len(statement.targets) == 1 and isinstance(target, ast.Attribute)
        if one and isinstance(made, ast.Call) and last_name(made.func) == "Parameter" and len(made.args) == 1:
            assert isinstance(target, ast.Attribute)
            yield statement, target, made.args[0]


def _is_alike(module: Module, target: ast.Attribute, value: ast.expr) -> bool:
    """Whether values have the shape of what stands there: made after it, or as the constructor makes it."""
    own = module.segment(target)
    for call in module.inside(value, ast.Call):
        if last_name(call.func).endswith("_like") and call.args and _base(module, call.args[0]) == own:
            return True
        shapes = (f"{own}.shape", f"{own}.size()", f"{own}.data.shape", f"*{own}.shape")
        if any(module.segment(a) in shapes for a in call.args):
            return True
    holder = module.method_class(target)
    inits = (
        [m for m in holder.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"] if holder else []
    )
    first = [v for m in inits for _, t, v in _made(module, m) if t.attr == target.attr]
    return any(ast.dump(v) == ast.dump(value) for v in first)


def _base(module: Module, node: ast.expr) -> str:
    """What a tensor is taken of: ``self.up`` of ``self.up.data``."""
    return module.segment(node).removesuffix(".data").removesuffix(".detach()")
