"""A collective beneath a branch that one rank takes: the statement that leads to it moves in front of the branch.

Facts:

- ``file``, ``line``: the branch.
- ``reached``: the line beneath it from which the collective is made; 0 where the branch leaves the way to it.
"""

from __future__ import annotations

import ast
import re

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.statements import STEP, alone, indent_of, removed, written
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "rank-dependent-collective"
_RANK = re.compile(r"rank|is_main|is_master|main_process|is_world", re.IGNORECASE)


def line(facts: Facts, project: Project) -> Site | None:
    """The branch."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Let every rank reach the collective; None where the branch does not ask for the rank, or has another side."""
    module = module_of(facts, project)
    if module is None:
        return None
    line = int(facts["line"])
    found = [n for n in module.nodes_on(line) if isinstance(n, ast.If) and n.lineno == line]
    if len(found) != 1 or found[0].orelse or not _RANK.search(module.segment(found[0].test)):
        return None
    node, reached = found[0], int(facts.get("reached") or 0)
    edit = _hoisted(module, node, reached) if reached else _without(module, node)
    if edit is None:
        return None
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Let all ranks reach the collective that stands behind `{module.segment(node.test)}` at {module.site(node)}.",
        "All ranks do that part of the work, and act on its result where they did before.",
        "Other collectives beneath branches of their own.",
    )


def _without(module: Module, node: ast.If) -> Edit | None:
    """The branch taken away that only leaves."""
    only = node.body[0]
    is_way_out = len(node.body) == 1 and isinstance(only, (ast.Return, ast.Continue))
    return removed(module, node) if is_way_out and alone(module, node) else None


def _hoisted(module: Module, node: ast.If, reached: int) -> Edit | None:
    indent = indent_of(module, node)
    at = next((i for i, s in enumerate(node.body) if s.lineno <= reached <= (s.end_lineno or s.lineno)), None)
    is_elif = module.segment(node).startswith("elif")
    if indent is None or at is None or is_elif or not all(alone(module, s) for s in node.body):
        return None
    first = _first_needed(node.body, at)
    moved, rest = node.body[first : at + 1], node.body[:first] + node.body[at + 1 :]
    parts = (
        node.test.values
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        else [node.test]
    )
    ranks = [module.segment(p) for p in parts if _RANK.search(module.segment(p))]
    others = [module.segment(p) for p in parts if not _RANK.search(module.segment(p))]
    depth = indent + STEP if others else indent
    lines = [f"{indent}if {' and '.join(others)}:\n"] if others else []
    lines += [written(module, s, depth) for s in moved]
    if rest:
        head = "".join(module.lines[node.lineno - 1 : node.body[0].lineno - 1])
        lines.append(f"{depth}if {' and '.join(ranks)}:\n" if others or not head else head)
        lines += [written(module, s, depth + STEP) for s in rest]
    return Edit(module.path, (node.lineno, 0), ((node.end_lineno or node.lineno) + 1, 0), "".join(lines))


def _first_needed(body: list[ast.stmt], at: int) -> int:
    """The first statement of a block that the one at ``at`` needs: it reads a name that is bound there."""
    needed = {n.id for n in ast.walk(body[at]) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    first = at
    for i in reversed(range(at)):
        bound = {n.id for n in ast.walk(body[i]) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if bound & needed:
            first = i
            needed |= {n.id for n in ast.walk(body[i]) if isinstance(n, ast.Name)}
    return first
