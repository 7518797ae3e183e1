"""How a walk goes into an object of a project class: attributes, properties, fields, items."""

from __future__ import annotations

import ast
from dataclasses import replace

from firstcause.source.arguments import argument
from firstcause.source.callsites import constructor_calls, constructor_frame, is_super_init, last_name
from firstcause.source.classes import (
    PROPERTIES,
    Assigned,
    assigned,
    class_value,
    decorators,
    external_bases,
    fields,
    lineage,
    method,
    own_method,
    self_name,
    subclasses,
)
from firstcause.source.containers import Element, grown, pick, starting_elements
from firstcause.source.frames import Frame, Instance, Value
from firstcause.source.functions import enter
from firstcause.source.module import kept, within
from firstcause.source.resolve import Defined, external, resolve
from firstcause.source.steps import EACH, Path, Step
from firstcause.source.walk import Chain, Holder, Hop, Origin, OriginKind, Result, Walk

# Subclasses that are looked through for what a base class reads but does not assign.
MAX_SUBCLASSES = 20
ADDING = ("add_module", "register_module", "register_buffer", "register_parameter")
_ADDING = frozenset({*ADDING, "setattr"})
DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def part(walk: Walk, instance: Instance, path: Path, chain: Chain) -> Result:
    """Follow the first step of a path into an object."""
    step = path[0]
    if step.kind in ("attr", "child") and isinstance(step.key, str):
        found = _attribute(walk, instance, step.key, path[1:], chain)
        if found is None and step.kind == "child":
            return _child_of_container(walk, instance, path, chain)
        return found
    has_items = method(walk.project, instance.module, instance.cls, "__getitem__") is not None
    if isinstance(step.key, int) and not has_items:
        return _child_of_container(walk, instance, path, chain)
    inside = _of_mapping(walk, instance, path, chain) if step.kind == "item" and not has_items else None
    if inside is not None:
        return inside
    names = ("__iter__", "__getitem__") if step.kind == "iter" else ("__getitem__",)
    for name in names:
        target = method(walk.project, instance.module, instance.cls, name)
        if target is not None and not isinstance(target.node, ast.ClassDef):
            frame = Frame(target.node, None, instance, 1)
            return enter(walk, target.module, frame, path if name == "__iter__" else path[1:], chain)
    return None


def _of_mapping(walk: Walk, instance: Instance, path: Path, chain: Chain) -> Result:
    """An item of an object whose class is a dict and that was made of one."""
    made = instance.made
    if made is None or not isinstance(made.node, ast.Call) or len(made.node.args) != 1:
        return None
    is_mapping = "builtins.dict" in external_bases(walk.project, instance.module, instance.cls)
    has_own = method(walk.project, instance.module, instance.cls, "__init__") is not None
    return walk.trace(made.at(made.node.args[0], path), chain) if is_mapping and not has_own else None


def _attribute(walk: Walk, instance: Instance, name: str, rest: Path, chain: Chain) -> Result:
    project = walk.project
    found = method(project, instance.module, instance.cls, name)
    if found is not None and not isinstance(found.node, ast.ClassDef):
        if any(d in PROPERTIES for d in decorators(project, found.module, found.node)):
            return enter(walk, found.module, Frame(found.node, None, instance, 1), rest, chain)
        return None if rest else [Origin("definition", found.module, found.node, chain, owner=instance)]
    family = lineage(project, instance.module, instance.cls)
    values = [
        _assigned_value(walk, instance, a, rest, chain) for p in family for a in assigned(project, p, name)
    ]
    values += [r for p in family for r in _added_modules(walk, instance, p, name, rest, chain)]
    if values:
        return _combined(values)
    field = _field(walk, instance, name, rest, chain)
    if field is not None:
        return field
    inherited = class_part(walk, Defined(instance.module, instance.cls), (Step("attr", name), *rest), chain)
    if inherited is not None:
        return inherited
    below = subclasses(project, instance.cls)[:MAX_SUBCLASSES] if instance.made is None else []
    for child in below:
        assert isinstance(child.node, ast.ClassDef)
        values += [
            _assigned_value(walk, Instance(child.module, child.node), a, rest, chain)
            for a in assigned(project, child, name)
        ]
    return _combined(values) if values else None


def _combined(results: list[Result]) -> Result:
    known = [r for r in results if r is not None]
    return [o for r in known for o in r] if known else None


def _assigned_value(walk: Walk, instance: Instance, found: Assigned, rest: Path, chain: Chain) -> Result:
    module, definition, name = found.module, found.definition, found.holder.attr
    assert definition.value is not None
    if definition.kind == "augmented" and not rest:
        return [Origin("operation", module, definition.node, chain, exact=False)]
    frame = (
        constructor_frame(walk, instance, Defined(module, found.cls))
        if found.method.name == "__init__"
        else None
    )
    source = Value(module, definition.value, frame or Frame(found.method, None, instance, 1))
    hop = (*chain, Hop(module, definition.value, Holder(module, found.cls, name, True, part_key(rest))))
    path = (*definition.path, *rest)
    if path and path[0].kind != "attr" and not definition.path:
        start = starting_elements(source)
        added = grown(source, found.holder, found.cls) if start is not None else []
        if start is not None and added:
            return pick(walk, source.at(source.node, path), [*start, *added], hop)
    result = walk.trace(source.at(source.node, path), hop)
    if result is None and not rest and definition.path:
        kind: OriginKind = "call" if isinstance(source.node, ast.Call) else "operation"
        return [Origin(kind, module, source.node, hop, exact=False)]
    return result


def part_key(path: Path) -> str | int | None:
    """The key of the part that a path takes first."""
    return path[0].key if path and path[0].kind in ("attr", "item") else None


def _added_modules(
    walk: Walk, instance: Instance, owner: Defined, name: str, rest: Path, chain: Chain
) -> list[Result]:
    """What ``self.add_module("name", x)`` and its kin put under a name."""
    found: list[Result] = []
    for node in kept(owner.node, "adding calls", lambda: _adding_calls(owner)):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ADDING:
            receiver, (key, given) = node.func.value, node.args[:2]
        elif isinstance(node.func, ast.Name) and node.func.id == "setattr" and len(node.args) == 3:
            receiver, key, given = node.args
        else:
            continue
        function = owner.module.function(node)
        own = self_name(walk.project, owner.module, function)
        if (
            function is None
            or not (isinstance(receiver, ast.Name) and receiver.id == own)
            or not _can_be(key, name)
        ):
            continue
        frame = Frame(function, None, instance, 1)
        if getattr(function, "name", "") == "__init__" and isinstance(owner.node, ast.ClassDef):
            frame = constructor_frame(walk, instance, owner) or frame
        found.append(walk.trace(Value(owner.module, given, frame, rest), (*chain, Hop(owner.module, given))))
    return found


def _adding_calls(owner: Defined) -> list[ast.Call]:
    """Those in a class, the ones that are nested least first."""
    module = owner.module
    everywhere = kept(
        module.tree, "adding calls", lambda: [c for c in module.nodes(ast.Call) if _is_adding(c)]
    )
    around = [(call, module.ancestors(call)) for call in everywhere]
    return [call for call, outer in sorted(around, key=lambda a: len(a[1])) if owner.node in outer]


def _is_adding(call: ast.Call) -> bool:
    return len(call.args) >= 2 and last_name(call.func) in _ADDING


def _can_be(key: ast.expr, name: str) -> bool:
    """Whether an expression for a name can give this name: a literal must, an f-string by its literal parts."""
    if isinstance(key, ast.Constant):
        return key.value == name
    if isinstance(key, ast.JoinedStr):
        parts = [str(p.value) if isinstance(p, ast.Constant) else None for p in key.values]
        start, end = parts[0] or "", (parts[-1] or "") if len(parts) > 1 else ""
        return name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)
    return isinstance(key, (ast.BinOp, ast.Name, ast.Call))


def _field(walk: Walk, instance: Instance, name: str, rest: Path, chain: Chain) -> Result:
    """A dataclass field: what constructor calls give, or its default."""
    names = fields(walk.project, instance.module, instance.cls)
    if names is None or name not in names:
        return None
    holder = Holder(instance.module, instance.cls, name, is_attribute=True)
    calls = (
        [instance.made]
        if instance.made is not None
        else constructor_calls(walk, instance.module, instance.cls)
    )
    found: list[Origin] = []
    is_left_out = not calls
    for call in calls:
        given = argument(call.node, names.index(name), name) if isinstance(call.node, ast.Call) else None
        result = None
        if given is not None:
            hop = (*chain, Hop(call.module, given.node, holder))
            result = walk.trace(call.at(given.node, (*given.path, *rest)), hop)
        is_left_out = is_left_out or result is None
        found += result or []
    if is_left_out:
        found += _field_default(walk, instance, name, rest, chain, holder) or []
    return found or None


def _field_default(
    walk: Walk, instance: Instance, name: str, rest: Path, chain: Chain, holder: Holder
) -> Result:
    for owner in lineage(walk.project, instance.module, instance.cls):
        node = class_value(owner, name)
        if node is None:
            continue
        made = external(resolve(walk.project, owner.module, node.func)) if isinstance(node, ast.Call) else ""
        if made.rpartition(".")[2] in ("field", "Field", "ib") and isinstance(node, ast.Call):
            options = {k.arg: k.value for k in node.keywords}
            factory = options.get("default_factory", options.get("factory"))
            if isinstance(factory, ast.Lambda):
                node = factory.body
            elif factory is not None:
                return _made_by(walk, owner, node, factory, rest, (*chain, Hop(owner.module, node, holder)))
            else:
                node = options.get("default", node.args[0] if node.args else node)
        hop = (*chain, Hop(owner.module, node, holder))
        found = walk.trace(Value(owner.module, node, None, rest), hop)
        return [
            replace(o, kind="parameter-default") if o.node is node and o.kind == "literal" else o
            for o in found or []
        ]
    return None


def _made_by(
    walk: Walk, owner: Defined, field: ast.Call, factory: ast.expr, rest: Path, chain: Chain
) -> Result:
    """The object that ``field(default_factory=Schedule)`` makes: of a project class, with that class's defaults."""
    found = resolve(walk.project, owner.module, factory)
    if not isinstance(found, Defined) or not isinstance(found.node, ast.ClassDef):
        return None
    # The call of field() gives none of the class's own arguments.
    instance = Instance(found.module, found.node, Value(owner.module, field))
    if rest:
        return part(walk, instance, rest, chain)
    return [Origin("call", owner.module, field, chain, instance=instance)]


def class_part(walk: Walk, cls: Defined, path: Path, chain: Chain) -> Result:
    """Follow the first step of a path into a class itself: its own values, methods, nested classes."""
    step, rest = path[0], path[1:]
    if (
        step.kind not in ("attr", "child")
        or not isinstance(step.key, str)
        or not isinstance(cls.node, ast.ClassDef)
    ):
        return None
    for owner in lineage(walk.project, cls.module, cls.node):
        node = class_value(owner, step.key)
        if node is not None:
            holder = Holder(owner.module, owner.node, step.key, is_attribute=True)
            return walk.trace(
                Value(owner.module, node, None, rest), (*chain, Hop(owner.module, node, holder))
            )
        assert isinstance(owner.node, ast.ClassDef)
        nested = next((n for n in owner.node.body if isinstance(n, DEFINING) and n.name == step.key), None)
        if nested is not None:
            if isinstance(nested, ast.ClassDef) and rest:
                return class_part(walk, Defined(owner.module, nested), rest, chain)
            return None if rest else [Origin("definition", owner.module, nested, chain)]
    return None


def _child_of_container(walk: Walk, instance: Instance, path: Path, chain: Chain) -> Result:
    """The numbered child of a class that derives from a container and fills it in ``super().__init__(...)``."""
    for owner in lineage(walk.project, instance.module, instance.cls):
        assert isinstance(owner.node, ast.ClassDef)
        init = own_method(owner.node, "__init__")
        for node in within(init) if init is not None else ():
            if isinstance(node, ast.Call) and is_super_init(node):
                frame = constructor_frame(walk, instance, owner)
                elements = [
                    Element(Value(owner.module, a.value, frame, (EACH,)), single=False)
                    if isinstance(a, ast.Starred)
                    else Element(Value(owner.module, a, frame))
                    for a in node.args
                ]
                return pick(walk, Value(owner.module, node, frame, path), elements, chain)
    return None
