"""Hydra's composition: the files of a defaults list, each beneath its package, the later ones over the earlier."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.source.configs.file import ConfigFile
from firstcause.source.launch import Launch
from firstcause.source.project import Project

MAX_LAYERS = 60
# Files that name files that name files: deeper is a circle.
MAX_FILES_DEEP = 8


@dataclass(frozen=True)
class Layer:
    """A config file and the package beneath which its values stand; a later layer beats an earlier one."""

    config: ConfigFile
    package: tuple[str, ...]


def layers(project: Project, first: ConfigFile, chosen: dict[str, str]) -> list[Layer]:
    """The files that a config is composed of, the weakest first; ``chosen`` are groups that a launch sets."""
    return list(_layers(project, first, os.path.dirname(first.path), "", (), chosen, 0))[:MAX_LAYERS]


def groups(project: Project, first: ConfigFile, launch: Launch) -> dict[str, str]:
    """The overrides of a launch that choose a file of a group."""
    folder = os.path.dirname(first.path)
    return {
        name.partition("@")[0]: str(node.value)
        for name, node in launch.overrides.items()
        if isinstance(node, ast.Constant) and os.path.isdir(os.path.join(folder, name.partition("@")[0]))
    }


def _layers(
    project: Project,
    config: ConfigFile,
    folder: str,
    group: str,
    package: tuple[str, ...],
    chosen: dict[str, str],
    depth: int,
) -> Iterator[Layer]:
    defaults = config.nodes_by_path.get(("defaults",))
    listed = defaults.elts if isinstance(defaults, ast.List) else []
    own_done = False
    for item in listed if depth < MAX_FILES_DEEP else ():
        if isinstance(item, ast.Constant) and item.value == "_self_":
            own_done = True
            yield Layer(config, package)
            continue
        for sub, option in _default(item, chosen):
            base, _, where = sub.partition("@")
            path = (
                base.lstrip("/")
                if base.startswith("/") or not group
                else f"{group}/{base}"
                if base
                else group
            )
            found = config_in(project, os.path.join(folder, path), option)
            if found is None:
                if not is_optional(item):
                    config.lacking.add(option)
                continue
            found.readers |= config.readers
            inside = _package(found, tuple(p for p in path.split("/") if p), where, package)
            yield from _layers(project, found, folder, path, inside, chosen, depth + 1)
    if not own_done:
        yield Layer(config, package)


def is_optional(item: ast.expr) -> bool:
    """Whether an entry of a defaults list may name a file that is not there."""
    keys = item.keys if isinstance(item, ast.Dict) else []
    return any(isinstance(k, ast.Constant) and str(k.value).startswith("optional ") for k in keys)


def _default(item: ast.expr, chosen: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The group and the option of an entry of a defaults list; a launch may choose another option."""
    if isinstance(item, ast.Constant) and isinstance(item.value, str):
        folder, _, name = item.value.rpartition("/")
        yield folder, name
    elif isinstance(item, ast.Dict):
        for key, option in zip(item.keys, item.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(option, (ast.Constant, ast.List)):
                continue
            name = str(key.value).removeprefix("override ").removeprefix("optional ").strip()
            options = option.elts if isinstance(option, ast.List) else [option]
            written = [o.value for o in options if isinstance(o, ast.Constant)]
            said = chosen.get(name.partition("@")[0].lstrip("/"))
            yield from ((name, one) for one in ([said] if said else written) if isinstance(one, str))


def _package(
    config: ConfigFile, group: tuple[str, ...], where: str, outer: tuple[str, ...]
) -> tuple[str, ...]:
    """Beneath which names a file's values stand: its header says so, or the entry that names it, or its folder."""
    header = next(
        (ln for ln in config.text.splitlines()[:5] if ln.replace(" ", "").startswith("#@package")), ""
    )
    said = where or header.rpartition(" ")[2].strip()
    if said == "_global_":
        return ()
    if said and said not in ("_group_", "@package"):
        named = tuple(said.removeprefix("_global_.").split("."))
        return named if header and not where else (*outer, *named)
    return group


def config_in(project: Project, folder: str, name: str) -> ConfigFile | None:
    for suffix in ("", ".yaml", ".yml"):
        path = os.path.normpath(os.path.join(folder, name + suffix))
        if (
            path.startswith(project.root.rstrip(os.sep) + os.sep)
            and path.endswith((".yaml", ".yml"))
            and os.path.isfile(path)
        ):
            return project.config(path)
    return None
