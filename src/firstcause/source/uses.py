"""Who else reads a value on its way, so that an edit changes what it means to change and nothing more."""

from __future__ import annotations

import ast
from typing import TypeGuard

from firstcause.source.module import Module, within
from firstcause.source.project import Project
from firstcause.source.steps import constant_key
from firstcause.source.walk import Holder, Hop, Origin


def reads(project: Project, holder: Holder) -> list[tuple[Module, ast.expr]]:
    """The places that read a variable: by name in its scope, by import, or as an attribute anywhere."""
    found: list[tuple[Module, ast.expr]] = []
    if isinstance(holder.key, str):
        # One part of a config: whatever object it is read from, only reads of that part read the value.
        for module in project.modules:
            found += [(module, n) for n in within(module.tree) if _reads_part(n, holder.key)]
        return found
    if holder.is_attribute:
        for module in project.modules:
            found += [(module, n) for n in within(module.tree) if _reads_attribute(n, holder.name)]
        return found
    found += [(holder.module, n) for n in within(holder.scope) if _reads_name(n, holder.name)]
    if holder.scope is holder.module.tree:
        for module in project.modules:
            if module is not holder.module:
                found += _imported_reads(project, module, holder)
    return found


def _reads_name(node: ast.AST, name: str) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _reads_attribute(node: ast.AST, name: str) -> TypeGuard[ast.expr]:
    return isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)


def _reads_part(node: ast.AST, key: str) -> TypeGuard[ast.expr]:
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load) and constant_key(node.slice) == key
    if isinstance(node, ast.Call):
        is_get = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop")
        return is_get and bool(node.args) and constant_key(node.args[0]) == key
    return _reads_attribute(node, key)


def _imported_reads(project: Project, module: Module, holder: Holder) -> list[tuple[Module, ast.expr]]:
    found: list[tuple[Module, ast.expr]] = []
    for node in within(module.tree):
        if isinstance(node, ast.ImportFrom):
            source = project.import_target(module, node.module or "", node.level)
            for alias in node.names if source is holder.module else ():
                local = holder.name if alias.name == "*" else (alias.asname or alias.name)
                if alias.name in (holder.name, "*"):
                    found += [(module, n) for n in within(module.tree) if _reads_name(n, local)]
        elif (
            _reads_attribute(node, holder.name)
            and isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
        ):
            found.append((module, node))
    return found


def exclusive_place(project: Project, origin: Origin, question: Hop) -> Hop:
    """The place nearest to an origin that feeds the question alone.

    From the question outwards, as long as each variable on the way is read once; the last place
    before a shared variable otherwise.
    """
    place = question
    for hop in (*origin.hops, Hop(origin.module, origin.node)):
        if hop.holder is not None and len(reads(project, hop.holder)) > 1:
            return place
        place = hop
    return place
