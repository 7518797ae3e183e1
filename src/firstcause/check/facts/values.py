"""The value of an argument as facts read it: what the code says, and what stands in settings within settings."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from firstcause.check.code import Call, Code
from firstcause.check.constants import Constant, constant
from firstcause.source.callsites import last_name
from firstcause.source.classes import class_value, own_method
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, external, resolve
from firstcause.source.steps import Step

MAX_DEPTH = 4
_ALL_STEPS = re.compile(r"total|max_steps|train(ing)?_steps|num_steps|all_steps|updates", re.IGNORECASE)
FACTORIES = ("field", "Field", "ib")


def value_of(call: Call, argument: str, position: int | None = None) -> Constant | None:
    """The value of a call's argument, also where it is a field of settings within settings or a Lightning hyperparameter."""
    value = call.argument(argument, position)
    return _known(call.code, value) if value is not None else None


def known_value(code: Code, module: Module, node: ast.expr) -> Constant | None:
    """The same of an expression."""
    return _known(code, Value(module, node))


def share_of(code: Code, value: Value) -> Constant | None:
    """The share that a number of steps is computed by, as 0.1 in ``int(0.1 * total)``."""
    for origin in code.origins(value.module, value.node):
        shares = [n for n in ast.walk(origin.node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
        for node in shares:
            for side in (node.left, node.right):
                known = code.constant(origin.module, side)
                if known is not None and isinstance(known.value, float) and 0 <= known.value < 1:
                    return known
        part = _divided(code, origin.module, origin.node)
        if part is not None:
            return part
    return None


def _divided(code: Code, module: Module, node: ast.AST) -> Constant | None:
    """The share in ``total // 10``, where what is divided is called by a name for all steps."""
    while isinstance(node, ast.Call) and last_name(node.func) in ("int", "round", "max") and node.args:
        node = node.args[0]
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Div, ast.FloorDiv)):
        return None
    part = code.constant(module, node.right)
    if (
        part is None
        or type(part.value) is not int
        or part.value < 2
        or not _ALL_STEPS.search(last_name(node.left))
    ):
        return None
    return replace(part, value=1 / part.value)


def text_at_definition(code: Code, value: Value) -> Constant | None:
    """A text or path that the code builds, at the one place where it is defined rather than where it is used."""
    text = code.text_of(value)
    if text is None or value.path or text.site != value.module.site(value.node):
        return text
    origins = code.origins(value.module, value.node)
    exact = len(origins) == 1 and origins[0].exact and origins[0].kind != "unknown"
    return replace(text, site=origins[0].site) if exact else text


def _known(code: Code, value: Value) -> Constant | None:
    return (
        constant(code.project, value)
        or _within(code, value)
        or _in_closure(code, value)
        or _entry_of_hyperparameter(code, value)
    )


def _entry_of_hyperparameter(code: Code, value: Value) -> Constant | None:
    """``self.hparams.optim["lr"]``, by itself or through a name, of a mapping that the module is made with."""
    node = value.node
    key = (
        node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    )
    if not isinstance(node, ast.Subscript) or value.path or not isinstance(key, str):
        return None
    places = code.origins(value.module, node.value)
    held = places[0].node if len(places) == 1 else None
    if not isinstance(held, ast.Attribute) or last_name(held.value) != "hparams":
        return None
    cls = next((p for p in value.module.ancestors(held) if isinstance(p, ast.ClassDef)), None)
    init = own_method(cls, "__init__") if cls is not None else None
    if cls is None or not isinstance(init, ast.FunctionDef) or not _saves(init, held.attr):
        return None
    names = [a.arg for a in init.args.args][1:]
    position = names.index(held.attr) if held.attr in names else None
    given = [call.argument(held.attr, position) for call in code.own_calls(cls.name)]
    found = [
        constant(code.project, Value(g.module, g.node, g.frame, (*g.path, Step("item", key))))
        if g is not None
        else None
        for g in given
    ]
    values = {repr(f.value) if f is not None else "" for f in found}
    return found[0] if len(values) == 1 else None


def _within(code: Code, value: Value) -> Constant | None:
    """A field of an object that stands in a field of another."""
    node, attribute, outer = value.node, "", value
    if value.path and value.path[-1].kind == "attr":
        attribute, outer = str(value.path[-1].key), Value(value.module, node, None, value.path[:-1])
    elif not value.path and isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Attribute) and node.value.attr == "hparams":
            return _hyperparameter(code, value.module, node)
        attribute, outer = node.attr, Value(value.module, node.value)
    if not attribute or _is_stored(code, attribute):
        return None
    owner = _settings(code, outer, MAX_DEPTH)
    default = class_value(owner, attribute) if owner is not None else None
    if owner is None or default is None:
        return None
    if isinstance(default, ast.Call) and _is_field(code, owner.module, default):
        default = next((k.value for k in default.keywords if k.arg == "default"), default)
    return code.constant(owner.module, default)


def _settings(code: Code, value: Value, depth: int) -> Defined | None:
    """The project's class of which a value is an object that ``default_factory`` makes."""
    origins = new_walk(code.project).origins(value)
    if depth == 0 or len(origins) != 1:
        return None
    origin = origins[0]
    if isinstance(origin.node, ast.Call):
        return _made(code, origin.module, origin.node)
    if isinstance(origin.node, ast.Attribute) and not _is_stored(code, origin.node.attr):
        outer = _settings(code, Value(origin.module, origin.node.value), depth - 1)
        default = class_value(outer, origin.node.attr) if outer is not None else None
        if outer is not None and isinstance(default, ast.Call):
            return _made(code, outer.module, default)
    return None


def _in_closure(code: Code, value: Value) -> Constant | None:
    """What a function within a function reads of the outer one's parameter, such as a length that ``map`` cuts at."""
    root = value.node
    names: list[str] = []
    while isinstance(root, ast.Attribute):
        names.insert(0, root.attr)
        root = root.value
    if not isinstance(root, ast.Name) or value.path:
        return None
    function = _owner_of_parameter(value.module, root)
    if function is None:
        return None
    parameters = [a.arg for a in function.args.args]
    position = parameters.index(root.id)
    defaults = dict(zip(reversed(parameters), reversed(function.args.defaults), strict=False))
    found = []
    for call in code.own_calls(function.name):
        given = call.argument(root.id, position)
        if given is None and (root.id not in defaults or call.may_have(root.id)):
            return None
        source = given if given is not None else Value(value.module, defaults[root.id])
        path = (*source.path, *(Step("attr", n) for n in names))
        whole = Value(source.module, source.node, None, path)
        found.append(constant(code.project, whole) or _within(code, whole))
    values = {repr(f.value) if f is not None else "" for f in found}
    return found[0] if len(values) == 1 else None


def _owner_of_parameter(module: Module, name: ast.Name) -> ast.FunctionDef | None:
    """The plain function around a function that reads a name which is the outer one's parameter and never assigned."""
    inner = module.function(name)
    while inner is not None:
        outer = module.function(inner)
        taken = {a.arg for a in ast.walk(inner.args) if isinstance(a, ast.arg)}
        if outer is None or name.id in taken:
            return None
        if isinstance(outer, ast.FunctionDef) and name.id in {a.arg for a in outer.args.args}:
            stored = any(
                isinstance(n, ast.Name) and n.id == name.id and not isinstance(n.ctx, ast.Load)
                for n in ast.walk(outer)
            )
            is_method = isinstance(module.parents.get(outer), ast.ClassDef)
            return None if stored or is_method else outer
        inner = outer
    return None


def _made(code: Code, module: Module, call: ast.Call) -> Defined | None:
    """The class that ``field(default_factory=Settings)`` makes an object of."""
    factory = next((k.value for k in call.keywords if k.arg in ("default_factory", "factory")), None)
    if factory is None or not _is_field(code, module, call):
        return None
    found = resolve(code.project, module, factory)
    return found if isinstance(found, Defined) and isinstance(found.node, ast.ClassDef) else None


def _is_field(code: Code, module: Module, call: ast.Call) -> bool:
    return external(resolve(code.project, module, call.func)).rpartition(".")[2] in FACTORIES


def _is_stored(code: Code, attribute: str) -> bool:
    """Whether an attribute of this name is assigned on anything: then the default is not what is read."""
    stored: set[str] | None = code.project.memory.get("stored attributes")
    if stored is None:
        stored = {
            n.attr for m in code.modules for n in m.nodes(ast.Attribute) if isinstance(n.ctx, ast.Store)
        }
        code.project.memory["stored attributes"] = stored
    return attribute in stored


def _hyperparameter(code: Code, module: Module, node: ast.Attribute) -> Constant | None:
    """``self.hparams.lr`` after ``save_hyperparameters()``: what the module is made with, or __init__'s default."""
    cls = next((p for p in module.ancestors(node) if isinstance(p, ast.ClassDef)), None)
    init = (
        next((n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
        if cls
        else None
    )
    if cls is None or init is None or not _saves(init, node.attr) or _is_stored(code, node.attr):
        return None
    names = [a.arg for a in init.args.args][1:]
    defaults = dict(zip(reversed(names), reversed(init.args.defaults), strict=False))
    defaults |= {
        a.arg: d for a, d in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True) if d is not None
    }
    position = names.index(node.attr) if node.attr in names else None
    made = code.own_calls(cls.name)
    found = []
    for call in made:
        if call.argument(node.attr, position) is not None:
            found.append(call.constant(node.attr, position))
        elif any(k.arg is None for k in call.node.keywords) or node.attr not in defaults:
            return None
        else:
            found.append(code.constant(module, defaults[node.attr]))
    if not made and node.attr in defaults:
        # Something out of sight makes it, and may give another value.
        default = code.constant(module, defaults[node.attr])
        return replace(default, overridable=True) if default is not None else None
    values = {repr(f.value) if f is not None else "" for f in found}
    return found[0] if len(values) == 1 else None


def _saves(init: ast.FunctionDef, name: str) -> bool:
    for node in ast.walk(init):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "save_hyperparameters":
            named = [a.value for a in node.args if isinstance(a, ast.Constant)]
            ignored = [k.value for k in node.keywords if k.arg == "ignore"]
            left_out = {c.value for i in ignored for c in ast.walk(i) if isinstance(c, ast.Constant)}
            return (not node.args or name in named) and name not in left_out
    return False
