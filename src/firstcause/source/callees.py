"""What a call calls: a library's function by name, a function or class of the project, a method of an object."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from firstcause.source.arguments import argument
from firstcause.source.classes import implicit, lineage, method, own_method, subclasses
from firstcause.source.definitions import parameters
from firstcause.source.frames import Frame, Instance, Value, frame_of
from firstcause.source.module import FUNCTIONS, FunctionNode, Module
from firstcause.source.resolve import Defined, resolve
from firstcause.source.walk import Origin, Walk

CALLED = ("forward", "__call__")
MAX_SUBCLASSES = 20
PARTIAL = ("functools.partial",)


@dataclass(eq=False)
class Callee:
    """One thing that a call may call.

    ``name`` is a library's dotted name, or ``.attr`` for a method of an unknown object; ``function`` or
    ``cls`` stands for the project's own; ``implicit`` and ``given`` as in ``Frame``.
    """

    name: str = ""
    module: Module | None = None
    function: FunctionNode | None = None
    cls: ast.ClassDef | None = None
    owner: Instance | None = None
    implicit: int = 0
    skip: int = 0
    given: Mapping[str, Value] = field(default_factory=dict)

    def frame(self, call: Value) -> Frame:
        assert self.function is not None
        return Frame(self.function, call, self.owner, self.implicit, self.skip, self.given)


def callees(walk: Walk, value: Value) -> list[Callee]:
    """What the call in ``value`` can call; empty where nothing is known of it."""
    if walk.effort.left < 0:
        return []
    if value.frame is not None:
        return _callees(walk, value)
    known = walk.project.callees
    if value.node not in known:
        cuts = walk.effort.cuts
        found = _callees(walk, value)
        if walk.effort.cuts > cuts:
            # The walk met itself or its bound: asked from elsewhere, the same call may show more.
            return found
        known[value.node] = found
    return known[value.node]  # type: ignore[no-any-return]


def _callees(walk: Walk, value: Value) -> list[Callee]:
    assert isinstance(value.node, ast.Call)
    func = value.node.func
    plain = resolve(walk.project, value.module, func)
    if isinstance(plain, str):
        return [Callee(name=plain)]
    if isinstance(plain, Defined):
        return [of_defined(walk, plain, is_class_access=plain.through is not None)]
    if isinstance(func, ast.Attribute):
        found = _methods(walk, value, func)
        if found:
            return found
    if isinstance(func, ast.Attribute) and walk.instances(value.at(func.value)) == []:
        return [Callee(name=f".{func.attr}")]
    found = [c for o in walk.callables(value.at(func)) for c in _of_origin(walk, o)]
    return found or [Callee(name=f".{func.attr}")] if isinstance(func, ast.Attribute) else found


def of_defined(
    walk: Walk, target: Defined, owner: Instance | None = None, is_class_access: bool = False
) -> Callee:
    """The callee for a function, a class, or a method of an object."""
    if isinstance(target.node, ast.ClassDef):
        return Callee(module=target.module, cls=target.node)
    taken = implicit(walk.project, target)
    if is_class_access and taken and not _is_classmethod(target):
        taken = 0
    return Callee(module=target.module, function=target.node, owner=owner, implicit=taken)


def _is_classmethod(target: Defined) -> bool:
    assert not isinstance(target.node, ast.ClassDef)
    return any(isinstance(d, ast.Name) and d.id == "classmethod" for d in target.node.decorator_list)


def _methods(walk: Walk, value: Value, func: ast.Attribute) -> list[Callee]:
    project = walk.project
    if (
        isinstance(func.value, ast.Call)
        and isinstance(func.value.func, ast.Name)
        and func.value.func.id == "super"
    ):
        return _super(walk, value, func.attr)
    applied = resolve(project, value.module, func.value)
    if func.attr == "apply" and isinstance(applied, Defined) and isinstance(applied.node, ast.ClassDef):
        forward = own_method(applied.node, "forward")
        # autograd.Function.apply gives forward its ctx.
        return [Callee(module=applied.module, function=forward, implicit=1)] if forward is not None else []
    found = []
    for instance in walk.instances(value.at(func.value)):
        target = method(project, instance.module, instance.cls, func.attr)
        if target is not None:
            found.append(of_defined(walk, target, instance))
        elif instance.made is None:
            found += _overriding(walk, instance, func.attr)
    return found


def _overriding(walk: Walk, instance: Instance, name: str) -> list[Callee]:
    """The methods that subclasses give to a base class that calls them."""
    found = []
    for child in subclasses(walk.project, instance.cls)[:MAX_SUBCLASSES]:
        own = own_method(child.node, name) if isinstance(child.node, ast.ClassDef) else None
        if own is not None and isinstance(child.node, ast.ClassDef):
            target = Defined(child.module, own, child.node)
            found.append(of_defined(walk, target, Instance(child.module, child.node)))
    return found


def _super(walk: Walk, value: Value, name: str) -> list[Callee]:
    cls = value.module.method_class(value.node)
    if cls is None:
        return []
    frame = frame_of(value.frame, value.module.function(value.node))
    owner = frame.owner if frame is not None and frame.owner is not None else Instance(value.module, cls)
    for part in lineage(walk.project, value.module, cls)[1:]:
        assert isinstance(part.node, ast.ClassDef)
        target = own_method(part.node, name)
        if target is not None:
            return [of_defined(walk, Defined(part.module, target, part.node), owner)]
    return [Callee(name=f"super.{name}")]


def _of_origin(walk: Walk, origin: Origin) -> list[Callee]:
    node = origin.node
    if origin.instance is not None:
        for name in CALLED:
            target = method(walk.project, origin.instance.module, origin.instance.cls, name)
            if target is not None:
                return [of_defined(walk, target, origin.instance)]
        return []
    if isinstance(node, FUNCTIONS):
        taken = (
            implicit(walk.project, Defined(origin.module, node)) if not isinstance(node, ast.Lambda) else 0
        )
        return [Callee(module=origin.module, function=node, owner=origin.owner, implicit=taken)]
    if isinstance(node, ast.ClassDef):
        return [Callee(module=origin.module, cls=node)]
    if isinstance(node, ast.Call):
        is_partial = bool(node.args) and resolve(walk.project, origin.module, node.func) in PARTIAL
        return _partial(walk, origin.value, node) if is_partial and origin.value is not None else []
    if isinstance(node, (ast.Name, ast.Attribute)):
        plain = resolve(walk.project, origin.module, node)
        return [Callee(name=plain)] if isinstance(plain, str) else []
    return []


def _partial(walk: Walk, value: Value, node: ast.Call) -> list[Callee]:
    """The function of ``partial(function, ...)``, with what is bound already."""
    found = []
    for origin in walk.callables(value.at(node.args[0])):
        for callee in _of_origin(walk, origin):
            if callee.function is None:
                # A class: its constructor's frame is made from the call that completes the partial one.
                found.append(callee)
                continue
            given = {}
            for parameter in parameters(callee.function):
                names = [a.arg for a in (*callee.function.args.posonlyargs, *callee.function.args.args)]
                place = names.index(parameter.arg) - callee.implicit + 1 if parameter.arg in names else None
                found_argument = argument(node, place, parameter.arg)
                if found_argument is not None and (place is None or place > 0):
                    given[parameter.arg] = value.at(found_argument.node, found_argument.path)
            skip = -(len(node.args) - 1)
            found.append(
                Callee("", callee.module, callee.function, None, callee.owner, callee.implicit, skip, given)
            )
    return found


def library_name(walk: Walk, value: Value) -> str:
    """The dotted name of a library's function that a call calls, ``.attr`` for an unknown object's method, or empty."""
    names = {callee.name for callee in callees(walk, value)}
    return names.pop() if len(names) == 1 else ""
