"""Parts of a model that are deep copies of another one's: switched off where those are."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.switches import Switch, switches


@dataclass(frozen=True)
class DeepCopy:
    """The call in ``student.layers[0] = copy.deepcopy(teacher.layers[0])``, and the two models' names."""

    module: Module
    call: ast.Call
    into: str
    of: str
    # The attribute that gets it: "layers".
    part: str


def unfrozen_copies(project: Project) -> list[DeepCopy]:
    """Copies of parts of what the program switches off, into a model of which it switches nothing by name."""
    switched = [(root, s.on) for s in switches(project) if (root := _switched(s))]
    off = {root for root, on in switched if on is False}
    any_way = {root for root, _ in switched}
    return [c for c in _copies(project) if c.of in off and c.into not in any_way]


def _switched(switch: Switch) -> str:
    """The name of the model that is switched; of a loop's variable, of what the loop runs over."""
    root = root_of(switch.receiver)
    for node in switch.module.ancestors(switch.statement):
        if isinstance(node, ast.For) and any(
            isinstance(n, ast.Name) and n.id == root for n in ast.walk(node.target)
        ):
            root = root_of(node.iter)
    return root


def _copies(project: Project) -> list[DeepCopy]:
    found = []
    for module in project.modules:
        for node in module.nodes(ast.Assign):
            value, target = node.value, node.targets[0]
            if not isinstance(value, ast.Call) or last_name(value.func) != "deepcopy" or not value.args:
                continue
            part = isinstance(target, (ast.Attribute, ast.Subscript)) and isinstance(
                value.args[0], (ast.Attribute, ast.Subscript)
            )
            into, of = root_of(target), root_of(value.args[0])
            if part and into and of and into != of:
                found.append(DeepCopy(module, value, into, of, _attribute(target)))
    return found


def _attribute(node: ast.expr) -> str:
    """The first attribute behind the name that an expression begins with."""
    found = ""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        found = node.attr if isinstance(node, ast.Attribute) else found
        node = node.value
    return found


def root_of(node: ast.expr) -> str:
    """The name that an expression begins with: ``teacher`` of ``teacher.eval().layers[0]``; empty for none."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        else:
            return ""
    return node.id
