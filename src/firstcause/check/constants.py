"""The value of an expression where the code alone says it: numbers, texts, lists, names of a library."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

from firstcause.schema.site import Site
from firstcause.source.configs.lookup import looked_up
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.project import Project
from firstcause.source.resolve import external, resolve
from firstcause.source.steps import Path
from firstcause.source.values import environment, is_unset, number, of_text
from firstcause.source.walk import Origin

# Longer lists are data, not settings.
MAX_ELEMENTS = 64


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
    entry = looked_up(new_walk(project), value.node) if not value.path else None
    if entry is not None:
        return Constant(entry[1].value, entry[0].site(entry[1]))
    origins = new_walk(project).origins(value)
    # ``os.environ.get("BASE") or "org/name"``: where nothing sets the variable, what stands behind it.
    unset = [o for o in origins if len(origins) > 1 and o.value is not None and is_unset(project, o.value)]
    found = [_of_origin(project, o) for o in origins if o not in unset]
    if not found or None in found:
        return _by_arithmetic(project, value)
    values = {repr(c.value) for c in found if c is not None}
    first = found[0] if len(values) == 1 else None
    return replace(first, overridable=True) if first is not None and unset else first


def _of_origin(project: Project, origin: Origin) -> Constant | None:
    if not origin.exact or origin.value is None:
        return None
    picked = _picked(project, origin)
    if picked is not None:
        return picked
    said = environment(project, origin.value)
    if said is not None:
        number_in = of_text(said[1].value)
        found = said[1].value if number_in is None else number_in
        return Constant(found, said[0].site(said[1]), said[2], origin.chain)
    plain = _plain(project, origin.value)
    if plain is None:
        return None
    return Constant(plain[0], origin.site, origin.kind == "config", origin.chain)


def _picked(project: Project, origin: Origin) -> Constant | None:
    """What ``getattr(torch, name)`` takes of a library by a name that is known."""
    node = origin.node
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Name)
        or node.func.id != "getattr"
        or len(node.args) < 2
    ):
        return None
    owner = external(resolve(project, origin.module, node.args[0]))
    name = constant(project, Value(origin.module, node.args[1]))
    if not owner or name is None or not isinstance(name.value, str):
        return None
    return Constant(Named(f"{owner}.{name.value}"), name.site, name.overridable, origin.chain)


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
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        listed = _comprehended(project, value, node)
        return (listed,) if listed is not None else None
    joined = _joined(project, value) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else None
    if joined is not None:
        return (joined,)
    computed = number(project, value)
    return (computed,) if computed is not None else None


def _comprehended(project: Project, value: Value, node: ast.ListComp | ast.GeneratorExp) -> list[Any] | None:
    """The elements of a comprehension over texts or numbers that are written out, as ``[f"{n}_proj" for n in "qkvo"]``."""
    loop = node.generators[0]
    if len(node.generators) != 1 or loop.ifs or not isinstance(loop.target, ast.Name):
        return None
    over = constant(project, value.at(loop.iter))
    if over is None or not isinstance(over.value, (str, list)) or len(over.value) > MAX_ELEMENTS:
        return None
    found = [_with(node.elt, loop.target.id, item) for item in over.value]
    return found if None not in found else None


def _with(node: ast.expr, name: str, item: Any) -> Any:
    """An element with the loop's variable put in: the variable itself, or a text around it."""
    if isinstance(node, ast.Name) and node.id == name:
        return item
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.FormattedValue) and node.format_spec is None and node.conversion == -1:
        return _with(node.value, name, item)
    if isinstance(node, ast.JoinedStr):
        parts = [_with(part, name, item) for part in node.values]
        return "".join(map(str, parts)) if None not in parts else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [_with(side, name, item) for side in (node.left, node.right)]
        return sides[0] + sides[1] if all(isinstance(s, str) for s in sides) else None
    return None


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
