"""Whether two files run in one process: one of them imports the other, itself or through a file between them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from firstcause.check.code import Call, Code
from firstcause.source.module import Module

HOPS = 3


def runs_with(code: Code, module: Module, calls: Sequence[Call]) -> bool:
    """Whether one of these calls stands in a file, in what it imports, or in what imports it."""
    places = {c.module.path for c in calls}
    if module.path in places:
        return True
    return bool(_reached(code, module) & places) or any(
        module.path in _reached(code, c.module) for c in calls
    )


def _reached(code: Code, module: Module) -> set[str]:
    """The paths of the files that a file imports, and those import, ``HOPS`` imports far."""
    known: dict[str, set[str]] = code.project.memory.setdefault("reached files", {})
    if module.path not in known:
        found: set[str] = set()
        edge = [module]
        for _ in range(HOPS):
            edge = [m for one in edge for m in _imports(code, one) if m.path not in found]
            found |= {m.path for m in edge}
        known[module.path] = found
    return known[module.path]


def _imports(code: Code, module: Module) -> list[Module]:
    named = [(a.name, 0) for node in module.nodes(ast.Import) for a in node.names]
    for node in module.nodes(ast.ImportFrom):
        place = node.module or ""
        named.append((place, node.level))
        named += [(f"{place}.{a.name}" if place else a.name, node.level) for a in node.names]
    found = [code.project.import_target(module, name, level) for name, level in named if name]
    return [m for m in found if m is not None]
