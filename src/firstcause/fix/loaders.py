"""The call that builds the DataLoader which a training's loop goes through."""

from __future__ import annotations

import ast

from firstcause.fix.operations import Facts, module_of
from firstcause.source import Module, Project
from firstcause.source.flow import origins


def loader_calls(project: Project) -> list[tuple[Module, ast.Call]]:
    """Every call of ``DataLoader``, in the order of the text."""
    return [(m, c) for m in project.modules for c in m.nodes(ast.Call) if _last(c.func) == "DataLoader"]


def loader_of(facts: Facts, project: Project) -> tuple[Module, ast.Call] | None:
    """The one that the loop at the facts' place goes through; the only one where the code does not tell."""
    calls = loader_calls(project)
    module = module_of(facts, project)
    if module is not None and len(calls) > 1:
        line = int(facts["line"])
        names = [n for n in _iterated(module, line) if isinstance(n, (ast.Name, ast.Attribute, ast.Call))]
        built = [o.node for n in names for o in origins(project, module.path, n.lineno, n)]
        calls = [c for c in calls if any(c[1] is b for b in built)]
    return calls[0] if len(calls) == 1 else None


def _iterated(module: Module, line: int) -> list[ast.expr]:
    """What the loop on a line goes through, and the arguments of ``enumerate`` or a progress bar around it."""
    loops = [n for n in module.nodes_on(line) if isinstance(n, (ast.For, ast.comprehension))]
    found = [loop.iter for loop in loops]
    for node in list(found):
        while isinstance(node, ast.Call) and node.args and _last(node.func) != "DataLoader":
            node = node.args[0]
            found.append(node)
    return found


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
