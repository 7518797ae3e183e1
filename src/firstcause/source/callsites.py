"""Where a function of the project is called: by name, as a method, through a variable that holds it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.source.callees import CALLED, PARTIAL, Callee, callees
from firstcause.source.classes import lineage, own_method, subclasses
from firstcause.source.frames import Frame, Instance, Value
from firstcause.source.module import FunctionNode, Module, within
from firstcause.source.project import Project
from firstcause.source.resolve import Defined, resolve
from firstcause.source.walk import Walk

# Calls through variables that are looked at for one function; beyond that the search costs more than it finds.
MAX_INDIRECT = 600


@dataclass(eq=False)
class CallIndex:
    """All calls of a project by the last name of what they call, and the call sites found so far."""

    by_name: dict[str, list[Value]] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)
    known: dict[int, list[Frame]] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)
    made: dict[ast.ClassDef, list[Value]] = field(default_factory=dict)
    # Calls of what a variable holds, as far as somebody has asked, and the calls that were not looked at yet.
    indirect: list[Value] = field(default_factory=list)
    rest: Iterator[Value] | None = None


def call_index(project: Project) -> CallIndex:
    """The project's index of calls, made at the first use."""
    index = project.memory.get("calls")
    if isinstance(index, CallIndex):
        return index
    index = CallIndex()
    for module in project.modules:
        called = set()
        for call in module.nodes(ast.Call):
            called.add(call.func)
            index.by_name.setdefault(last_name(call.func), []).append(Value(module, call))
        # A function that is handed on as a value may be called under another name.
        for name in module.nodes(ast.Name):
            if name not in called and isinstance(name.ctx, ast.Load):
                index.values.add(name.id)
        for attribute in module.nodes(ast.Attribute):
            if attribute not in called and isinstance(attribute.ctx, ast.Load):
                index.values.add(attribute.attr)
        for alias in module.nodes(ast.alias):
            if alias.asname:
                index.values.add(alias.name.rpartition(".")[2])
    project.memory["calls"] = index
    return index


def last_name(node: ast.AST) -> str:
    """The last part of a dotted expression; empty for any other."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def call_sites(walk: Walk, module: Module, function: FunctionNode) -> list[Frame]:
    """A frame for each call of a function that is found in the project."""
    index = call_index(walk.project)
    if id(function) in index.known:
        return index.known[id(function)]
    if id(function) in index.asked or isinstance(function, ast.Lambda):
        walk.effort.cuts += 1
        return []
    index.asked.add(id(function))
    cuts = walk.effort.cuts
    try:
        found = _find(walk.fork(), module, function)
    finally:
        index.asked.discard(id(function))
    if walk.effort.cuts == cuts or (not index.asked and walk.effort.left > 0):
        # What was found while another search was under way may lack that one's results.
        index.known[id(function)] = found
    return found


def _find(walk: Walk, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Frame]:
    cls = module.parents.get(function)
    if isinstance(cls, ast.ClassDef) and function.name == "__init__":
        return constructor_frames(walk, module, cls, function)
    frames: list[Frame] = []
    for value in _candidates(walk, function, is_method=isinstance(cls, ast.ClassDef)):
        for callee in callees(walk, value):
            if callee.function is function:
                frames.append(callee.frame(value))
            elif (
                callee.name == f".{function.name}"
                and isinstance(cls, ast.ClassDef)
                and _is_only(walk.project, function)
            ):
                frames.append(Frame(function, value, None, 1))
    return frames


def _candidates(walk: Walk, function: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool) -> list[Value]:
    index = call_index(walk.project)
    found = list(index.by_name.get(function.name, []))
    others: list[Value] = []
    if (is_method and function.name in CALLED) or function.name in index.values:
        others = _indirect(walk.project, function.name)
    return found + others


def _indirect(project: Project, name: str) -> list[Value]:
    """The first calls of what a variable holds, those under the asked name left out."""
    index = call_index(project)
    if index.rest is None:
        index.rest = (v for vs in index.by_name.values() for v in vs if _is_indirect(project, v))
    found = [v for v in index.indirect if last_name(v.node.func) != name]  # type: ignore[attr-defined]
    most = MAX_INDIRECT if project.effort is None else min(MAX_INDIRECT, project.effort)
    while len(found) < most:
        value = next(index.rest, None)
        if value is None:
            break
        index.indirect.append(value)
        if last_name(value.node.func) != name:  # type: ignore[attr-defined]
            found.append(value)
    return found[:most]


def _is_indirect(project: Project, value: Value) -> bool:
    """Whether a call calls what a variable holds, and no name that is known by itself."""
    assert isinstance(value.node, ast.Call)
    func = value.node.func
    if isinstance(func, ast.Attribute) and not isinstance(func.value, (ast.Name, ast.Attribute)):
        return False
    target = resolve(project, value.module, func)
    return target is None or (
        isinstance(target, Defined) and func is not None and last_name(func) != target.node.name
    )


def _is_only(project: Project, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method's name is no other method's in the project and none of common library objects."""
    if function.name.startswith("__") or any(hasattr(kind, function.name) for kind in (str, dict, list, set)):
        return False
    names: Counter[str] | None = project.memory.get("functions")
    if names is None:
        names = Counter(n.name for m in project.modules for n in m.nodes(ast.FunctionDef))
        names.update(n.name for m in project.modules for n in m.nodes(ast.AsyncFunctionDef))
        project.memory["functions"] = names
    return names[function.name] == 1


def constructor_calls(walk: Walk, module: Module, cls: ast.ClassDef) -> list[Value]:
    """The calls that make objects of a class."""
    made = call_index(walk.project).made
    if cls not in made:
        cuts = walk.effort.cuts
        found = _constructor_calls(walk, cls)
        if walk.effort.cuts > cuts:
            return found
        made[cls] = found
    return made[cls]


def _constructor_calls(walk: Walk, cls: ast.ClassDef) -> list[Value]:
    index = call_index(walk.project)
    candidates = list(index.by_name.get(cls.name, []))
    candidates += [v for v in index.by_name.get("cls", []) if v.module.method_class(v.node) is cls]
    if cls.name in index.values:
        candidates += _indirect(walk.project, cls.name)
        candidates += index.by_name.get("partial", [])
    return [v for v in candidates if any(c.cls is cls for c in _made_by(walk, v))]


def _made_by(walk: Walk, value: Value) -> list[Callee]:
    assert isinstance(value.node, ast.Call)
    found = callees(walk, value)
    if value.node.args and any(c.name in PARTIAL for c in found):
        target = resolve(walk.project, value.module, value.node.args[0])
        if isinstance(target, Defined) and isinstance(target.node, ast.ClassDef):
            return [Callee(module=target.module, cls=target.node, skip=1)]
    return found


def constructor_frames(walk: Walk, module: Module, cls: ast.ClassDef, init: FunctionNode) -> list[Frame]:
    """A frame of ``__init__`` for each call that makes an object of a class or reaches it from a subclass."""
    frames = []
    for value in constructor_calls(walk, module, cls):
        skip = next((c.skip for c in _made_by(walk, value) if c.cls is cls), 0)
        frames.append(Frame(init, value, Instance(module, cls, value), 1, skip))
    for child in subclasses(walk.project, cls):
        assert isinstance(child.node, ast.ClassDef)
        own = own_method(child.node, "__init__")
        family = [p.node for p in lineage(walk.project, child.module, child.node)]
        if (
            own is None
            and next((c for c in family if isinstance(c, ast.ClassDef) and own_method(c, "__init__")), None)
            is cls
        ):
            frames += [
                Frame(init, v, Instance(child.module, child.node, v), 1)
                for v in constructor_calls(walk, child.module, child.node)
            ]
        for node in within(own) if own is not None else ():
            if isinstance(node, ast.Call) and last_name(node.func) == "__init__":
                call = Value(child.module, node)
                frames += [c.frame(call) for c in callees(walk, call) if c.function is init]
    return frames


def is_super_init(call: ast.Call) -> bool:
    """Whether a call is ``super().__init__(...)``."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr != "__init__" or not isinstance(func.value, ast.Call):
        return False
    return last_name(func.value.func) == "super"


def constructor_frame(walk: Walk, instance: Instance, cls: Defined) -> Frame | None:
    """The frame of one class's ``__init__`` for an object, through ``super().__init__`` from the object's own class."""
    family = [
        p for p in lineage(walk.project, instance.module, instance.cls) if isinstance(p.node, ast.ClassDef)
    ]
    frame: Frame | None = None
    module = instance.module
    for part in family:
        assert isinstance(part.node, ast.ClassDef)
        init = own_method(part.node, "__init__")
        if init is None:
            continue
        if frame is None:
            frame = Frame(init, instance.made, instance, 1)
        else:
            call = _call_of_base(frame.function)
            if call is None:
                frame = Frame(init, None, instance, 1)
            else:
                # Base.__init__(self, ...) hands the object over by hand.
                frame = Frame(init, Value(module, call, frame), instance, 1 if is_super_init(call) else 0)
        module = part.module
        if part.node is cls.node:
            return frame
    return None


def _call_of_base(function: FunctionNode) -> ast.Call | None:
    for node in within(function):
        if isinstance(node, ast.Call) and last_name(node.func) == "__init__":
            return node
    return None
