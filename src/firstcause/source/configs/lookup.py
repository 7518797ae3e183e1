"""Entries that a project's own function looks up by a dotted name, as ``cfg.at("optim.lr")``, in the config that has it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from firstcause.source.configs.file import FORMATS, ConfigFile
from firstcause.source.configs.opened import find, is_written
from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.walk import Walk


def looked_up(walk: Walk, node: ast.AST) -> tuple[ConfigFile, ast.Constant] | None:
    """The value of such a call, where one config that the code names has an entry of that path; None elsewhere."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    text = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    if not isinstance(text, str) or "." not in text:
        return None
    path = tuple(text.split("."))
    found = [(c, c.nodes_by_path[path]) for c in named(walk) if path in c.nodes_by_path]
    entry = found[0][1] if len(found) == 1 else None
    return (found[0][0], entry) if isinstance(entry, ast.Constant) else None


def named(walk: Walk) -> list[ConfigFile]:
    """The config files beneath the root that the code names by a text and does not write."""
    known: list[ConfigFile] | None = walk.project.memory.get("named configs")
    if known is None:
        known = walk.project.memory["named configs"] = list(_named(walk, walk.project))
    return known


def _named(walk: Walk, project: Project) -> Iterator[ConfigFile]:
    if not project.configured:
        return
    paths: set[str] = set()
    for module in project.modules:
        for text in _texts(module):
            path = find(walk, module, text)
            if path is None or path in paths or is_written(walk, path):
                continue
            paths.add(path)
            config = project.config(path)
            if config is not None:
                yield config


def _texts(module: Module) -> Iterator[str]:
    for node in module.nodes(ast.Constant):
        if isinstance(node.value, str) and os.path.splitext(node.value)[1] in FORMATS:
            yield node.value
