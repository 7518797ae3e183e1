"""The value of an expression where the code alone says it: numbers, texts, lists, names of a library."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from firstcause.schema.site import Site
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.project import Project
from firstcause.source.resolve import external, resolve
from firstcause.source.steps import Path
from firstcause.source.values import environment_default, number
from firstcause.source.walk import Origin


@dataclass(frozen=True)
class Named:
    """A library's object that stands for itself, such as torch.bfloat16."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A value, where it stands, and whether a command line or a config file may say otherwise."""

    value: Any
    site: Site
    overridable: bool = False
    way: tuple[Site, ...] = ()


def constant(project: Project, value: Value) -> Constant | None:
    """The one value that an expression has; None where there are several, or the code does not say it."""
    if value.frame is not None:
        return _constant(project, value)
    known: dict[tuple[ast.expr, Path], Constant | None] = project.memory.setdefault("constants", {})
    key = (value.node, value.path)
    if key not in known:
        known[key] = _constant(project, value)
    return known[key]


def _constant(project: Project, value: Value) -> Constant | None:
    found = [_of_origin(project, o) for o in new_walk(project).origins(value)]
    if not found or None in found:
        return _by_arithmetic(project, value)
    values = {repr(c.value) for c in found if c is not None}
    return found[0] if len(values) == 1 else None


def _of_origin(project: Project, origin: Origin) -> Constant | None:
    if not origin.exact or origin.value is None:
        return None
    default = environment_default(project, origin.value)
    if default is not None:
        return Constant(default.value, origin.module.site(default), True, origin.chain)
    plain = _plain(project, origin.value)
    if plain is None:
        return None
    return Constant(plain[0], origin.site, origin.kind == "config", origin.chain)


def _by_arithmetic(project: Project, value: Value) -> Constant | None:
    computed = number(project, value)
    return Constant(computed, value.module.site(value.node)) if computed is not None else None


def _plain(project: Project, value: Value) -> tuple[Any] | None:
    """The value in a tuple of one, so that None can be a value."""
    node = value.node
    if isinstance(node, ast.Constant):
        return (node.value,)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        items = [constant(project, value.at(e)) for e in node.elts]
        return None if None in items else ([i.value for i in items if i is not None],)
    if isinstance(node, ast.Dict):
        return _dict(project, value, node)
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = external(resolve(project, value.module, node))
        return (Named(name),) if name else None
    joined = _joined(project, value) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else None
    if joined is not None:
        return (joined,)
    computed = number(project, value)
    return (computed,) if computed is not None else None


def _joined(project: Project, value: Value) -> list[Any] | None:
    """Two lists put together."""
    assert isinstance(value.node, ast.BinOp)
    sides = [constant(project, value.at(n)) for n in (value.node.left, value.node.right)]
    lists = [s.value for s in sides if s is not None and isinstance(s.value, list)]
    return [*lists[0], *lists[1]] if len(lists) == 2 else None


def _dict(project: Project, value: Value, node: ast.Dict) -> tuple[Any] | None:
    found = {}
    for key, item in zip(node.keys, node.values, strict=True):
        name = constant(project, value.at(key)) if key is not None else None
        inner = constant(project, value.at(item))
        if name is None or inner is None or not isinstance(name.value, (str, int, float, bool)):
            return None
        found[name.value] = inner.value
    return (found,)


_PATHS = (
    "pathlib.Path",
    "pathlib.PurePath",
    "os.fspath",
    "builtins.str",
    "os.path.abspath",
    "os.path.expanduser",
)


def text_of(project: Project, value: Value, hops: int = 6) -> Constant | None:
    """A text or path, its parts joined: ``Path(a) / b``, ``os.path.join``, f-strings; what varies stands as ``{}``."""
    known = constant(project, value)
    if known is not None:
        return known if isinstance(known.value, str) else None
    if hops == 0:
        return None
    found = [
        _built(project, o.value, hops - 1) for o in new_walk(project).origins(value) if o.value is not None
    ]
    texts = {t for t in found if t is not None}
    return (
        Constant(texts.pop(), value.module.site(value.node))
        if len(texts) == 1 and None not in found
        else None
    )


def _built(project: Project, value: Value, hops: int) -> str | None:
    node = value.node
    if isinstance(node, ast.JoinedStr):
        return "".join(_piece(project, value.at(part), hops) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
        left, right = (text_of(project, value.at(side), hops) for side in (node.left, node.right))
        between = "/" if isinstance(node.op, ast.Div) else ""
        return (
            f"{left.value.rstrip('/') if between else left.value}{between}{right.value if right else '{}'}"
            if left
            else None
        )
    if isinstance(node, ast.Call):
        name = external(resolve(project, value.module, node.func))
        if name == "os.path.join" or (name in _PATHS and node.args):
            parts = [text_of(project, value.at(a), hops) for a in node.args]
            return (
                "/".join(str(p.value).rstrip("/") if p else "{}" for p in parts)
                if parts and parts[0]
                else None
            )
    return None


def _piece(project: Project, value: Value, hops: int) -> str:
    node = value.node
    if isinstance(node, ast.Constant):
        return str(node.value)
    inner = text_of(project, value.at(node.value), hops) if isinstance(node, ast.FormattedValue) else None
    return str(inner.value) if inner is not None else "{}"
