"""Where a submodule of the user's model is built: the call, its arguments, and the tests that guard it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.schema import Site
from firstcause.source.arguments import argument
from firstcause.source.callsites import constructor_calls
from firstcause.source.classes import self_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Instance, Value
from firstcause.source.guards import Guard, guards
from firstcause.source.module import Module
from firstcause.source.objects import part
from firstcause.source.project import Project
from firstcause.source.resolve import Defined, external, resolve
from firstcause.source.steps import Path, Step
from firstcause.source.walk import Chain, Hop, Origin, Walk


@dataclass(frozen=True, eq=False)
class Construction:
    """A call that builds a submodule: what it calls, and the tests that have to hold for it, innermost first."""

    project: Project
    value: Value
    guards: tuple[Guard, ...]
    hops: Chain = ()

    @property
    def module(self) -> Module:
        return self.value.module

    @property
    def call(self) -> ast.Call:
        assert isinstance(self.value.node, ast.Call)
        return self.value.node

    @property
    def site(self) -> Site:
        return self.module.site(self.call)

    @property
    def callee(self) -> str:
        """The dotted name of what is called, such as ``torch.nn.Linear``; a project class by its own name."""
        target = resolve(self.project, self.module, self.call.func)
        if isinstance(target, Defined):
            return target.node.name
        return external(target) or self.module.segment(self.call.func)

    def argument(self, name: str, position: int) -> Value | None:
        """An argument by its name or its 0-based position; None where the call leaves it to its default."""
        given = argument(self.call, position, name)
        return self.value.at(given.node, given.path) if given is not None else None


def find_module_construction(project: Project, class_name: str, attribute_path: str) -> list[Construction]:
    """The calls that build ``attribute_path`` (as ``named_modules`` writes it) beneath objects of a class.

    The path goes through torch's containers and through the project's own classes and functions; the
    farther out the class, the more exactly arguments are known.
    """
    return submodule_constructions(project, class_name, attribute_path)[0]


def submodule_constructions(
    project: Project, class_name: str, attribute_path: str
) -> tuple[list[Construction], list[Origin]]:
    """The calls that can build a submodule, and what else its attribute can be: ``None``, a parameter, a list."""
    found: dict[int, Construction] = {}
    others: list[Origin] = []
    for origin in submodule_origins(project, class_name, attribute_path):
        if isinstance(origin.node, ast.Call) and origin.exact:
            value = origin.value or Value(origin.module, origin.node)
            found.setdefault(id(origin.node), Construction(project, value, _guards(origin), origin.hops))
        else:
            others.append(origin)
    return list(found.values()), others


def submodule_origins(project: Project, class_name: str, attribute_path: str) -> list[Origin]:
    """Whatever a submodule's attribute can be, ``None`` and placeholders included."""
    path: Path = tuple(Step("child", key) for key in attribute_path.split(".") if key)
    walk = new_walk(project, spread=True)
    found: list[Origin] = []
    for cls in classes_named(project, class_name):
        assert isinstance(cls.node, ast.ClassDef)
        made = constructor_calls(walk.fork(), cls.module, cls.node)
        objects = [Instance(cls.module, cls.node, call) for call in made] or [Instance(cls.module, cls.node)]
        for instance in objects:
            found += _within(walk, instance, path)
        found += _assigned_outside(walk, path[:1], path[1:], cls.node)
    if not any(o.exact for o in found):
        for index in range(len(path)):
            found += _assigned_outside(walk, path[index : index + 1], path[index + 1 :], None)
    known = [o for o in found if o.exact]
    return _unique(known or found)


def _within(walk: Walk, instance: Instance, path: Path) -> list[Origin]:
    if not path:
        return []
    return part(walk, instance, path, ()) or []


def _unique(found: list[Origin]) -> list[Origin]:
    unique: dict[int, Origin] = {}
    for origin in found:
        unique.setdefault(id(origin.node), origin)
    return list(unique.values())


def classes_named(project: Project, name: str) -> list[Defined]:
    """The project's classes of a name; a qualified name (``Outer.Inner``) is taken by its last part."""
    last = name.rpartition(".")[2]
    return [
        Defined(module, node)
        for module in project.modules
        for node in module.nodes(ast.ClassDef)
        if node.name == last
    ]


def _assigned_outside(walk: Walk, step: Path, rest: Path, cls: ast.ClassDef | None) -> list[Origin]:
    """``model.fc = nn.Linear(...)``: a part that the code replaces from outside; of any object where no class is given."""
    found: list[Origin] = []
    for module in walk.project.modules:
        for node in module.nodes(ast.Assign):
            for target in node.targets:
                if (
                    not isinstance(target, ast.Attribute)
                    or target.attr != step[0].key
                    or not isinstance(node, ast.Assign)
                ):
                    continue
                if cls is None or _is_outside_object(walk, Value(module, target.value), cls):
                    found += (
                        walk.trace(Value(module, node.value, None, rest), (Hop(module, node.value),)) or []
                    )
    return found


def _is_outside_object(walk: Walk, value: Value, cls: ast.ClassDef) -> bool:
    function = value.module.function(value.node)
    is_self = isinstance(value.node, ast.Name) and value.node.id == self_name(
        walk.project, value.module, function
    )
    return not is_self and any(instance.cls is cls for instance in walk.instances(value))


def _guards(origin: Origin) -> tuple[Guard, ...]:
    """The tests around the construction, and around the places that pass it to its attribute."""
    found = guards(origin.module, origin.node)
    for hop in reversed(origin.hops):
        found += [g for g in guards(hop.module, hop.node) if not any(g.node is f.node for f in found)]
        if hop.holder is not None and hop.holder.is_attribute:
            break
    return tuple(found)
