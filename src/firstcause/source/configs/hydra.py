"""Hydra: the config that a decorated function gets, composed from its files and the overrides of a launch."""

from __future__ import annotations

import ast
import os
import re
from dataclasses import replace

from firstcause.source.arguments import argument
from firstcause.source.configs.composition import config_in, groups, layers
from firstcause.source.configs.file import ConfigFile
from firstcause.source.configs.reading import into
from firstcause.source.frames import Value
from firstcause.source.launch import Launch, concerning
from firstcause.source.module import FunctionNode, Module
from firstcause.source.project import Project
from firstcause.source.resolve import external, resolve
from firstcause.source.steps import Path, Step
from firstcause.source.walk import Chain, Hop, Origin, Result, Walk

MAIN = ("hydra.main", "hydra.main.main")
# Hops, of which each interpolation takes a few: two that name each other end.
MAX_INTERPOLATIONS = 20
INTERPOLATED = re.compile(r"\$\{([\w.\-]+)\}")


def entry(project: Project, module: Module, function: FunctionNode) -> ast.Call | None:
    """The ``hydra.main(…)`` that decorates a function."""
    for decorator in getattr(function, "decorator_list", ()):
        if isinstance(decorator, ast.Call) and external(resolve(project, module, decorator.func)) in MAIN:
            return decorator
    return None


def from_main(walk: Walk, value: Value, function: FunctionNode, chain: Chain) -> Result:
    """A part of the config that Hydra gives to a function; None where no file says it."""
    if not walk.project.configured:
        return None
    call = entry(walk.project, value.module, function)
    return _composed(walk, value, call, call, chain) if call is not None else None


def from_compose(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """A part of what ``hydra.compose`` gives back; its folder is that of the file's ``hydra.initialize``."""
    if not walk.project.configured:
        return None
    starts = ("hydra.initialize", "hydra.initialize_config_dir")
    initialize = next(
        (
            c
            for c in value.module.nodes(ast.Call)
            if external(resolve(walk.project, value.module, c.func)) in starts
        ),
        None,
    )
    return _composed(walk, value, initialize, node, chain) if initialize is not None else None


def primary(
    project: Project, module: Module, folder_call: ast.Call, name_call: ast.Call
) -> ConfigFile | None:
    """The config file that a program starts from."""
    folder = _text(folder_call, "config_path", 0) or _text(folder_call, "config_dir", 0)
    name = _text(name_call, "config_name", 1 if name_call is folder_call else 0)
    if name is None:
        return None
    base = os.path.join(os.path.dirname(module.path), (folder or "").replace("\\", "/"))
    found = config_in(project, base, name)
    if found is not None:
        found.readers.add("hydra")
    return found


def _composed(
    walk: Walk, value: Value, folder_call: ast.Call | None, name_call: ast.Call, chain: Chain
) -> Result:
    project, module = walk.project, value.module
    first = primary(project, module, folder_call or name_call, name_call)
    if first is None:
        return None
    if not value.path:
        # The whole: what is asked of it next is looked for in its parts.
        return [Origin("config", first, first.root, (*chain, Hop(first, first.root)), exact=False)]
    starts: list[Launch | None] = [*concerning(project, module)]
    results = [_layered(walk, value, first, launch, chain) for launch in starts or [None]]
    if any(r is None for r in results):
        return None
    return [o for r in results for o in r or []]


def _layered(walk: Walk, value: Value, first: ConfigFile, launch: Launch | None, chain: Chain) -> Result:
    keys = keys_of(value.path)
    if launch is not None:
        given = next((n for k, n in launch.overrides.items() if tuple(k.split(".")) == keys), None)
        if given is not None:
            return walk.trace(Value(launch.file, given), (*chain, Hop(launch.file, given)))
    chosen = groups(walk.project, first, launch) if launch is not None else {}
    known = layers(walk.project, first, chosen)
    for layer in reversed(known):
        depth = len(layer.package)
        if depth and len(keys) <= depth:
            if keys == layer.package[: len(keys)]:
                whole = layer.config.root
                return [
                    Origin("config", layer.config, whole, (*chain, Hop(layer.config, whole)), exact=False)
                ]
            continue
        if keys[:depth] != layer.package:
            continue
        found = into(
            walk, layer.config, Value(layer.config, layer.config.root, None, value.path[depth:]), chain
        )
        if found is not None:
            return [r for o in found for r in _settled(walk, value, first, launch, o, len(known) > 1)]
    return None


def _settled(
    walk: Walk, value: Value, first: ConfigFile, launch: Launch | None, origin: Origin, is_layered: bool
) -> list[Origin]:
    """What ``${a.b}`` stands for; a mapping of one file, where others may add to it, is not all that a program gets."""
    node = origin.node
    text = _written(node)
    if "${" in text:
        named = INTERPOLATED.fullmatch(text)
        path = tuple(Step("item", k) for k in named[1].split(".")) if named else ()
        if path and len(origin.hops) < MAX_INTERPOLATIONS:
            return _layered(walk, replace(value, path=path), first, launch, origin.hops) or []
        whole = _filled(walk, value, first, launch, origin) if len(origin.hops) < MAX_INTERPOLATIONS else None
        return [whole or replace(origin, exact=False)]
    return [replace(origin, exact=False)] if isinstance(node, ast.Dict) and is_layered else [origin]


def _written(node: ast.AST) -> str:
    """The text of an entry as its file has it, before names in it were replaced; empty for what is no text."""
    text = getattr(node, "written", node.value) if isinstance(node, ast.Constant) else ""
    return text if isinstance(text, str) else ""


def _filled(
    walk: Walk, value: Value, first: ConfigFile, launch: Launch | None, origin: Origin
) -> Origin | None:
    """A text with ``${a.b}`` within it, as at ``org/name-${size}``: where each is one word or number."""
    text = _written(origin.node)
    if origin.value is None:
        return None
    for named in INTERPOLATED.finditer(text):
        path = tuple(Step("item", k) for k in named[1].split("."))
        found = _layered(walk, replace(value, path=path), first, launch, (*origin.hops, *origin.hops[-1:]))
        if (
            found is None
            or len(found) != 1
            or not found[0].exact
            or not isinstance(found[0].node, ast.Constant)
        ):
            return None
        text = text.replace(named[0], str(found[0].node.value))
    node = ast.copy_location(ast.Constant(text), origin.node)
    return replace(origin, node=node, value=replace(origin.value, node=node)) if "${" not in text else None


def keys_of(path: Path) -> tuple[str, ...]:
    """The names that a path begins with."""
    found: list[str] = []
    for step in path:
        if step.kind not in ("attr", "item") or not isinstance(step.key, str):
            break
        found.append(step.key)
    return tuple(found)


def _text(call: ast.Call, name: str, position: int) -> str | None:
    given = argument(call, position, name)
    node = given.node if given is not None else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
