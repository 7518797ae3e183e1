"""sync-every-step: what is only logged is logged at one step of fifty.

Facts:

- ``file``, ``line``, ``column``, ``last``: the statement that takes values out of tensors.
- ``gain``: how much faster the same steps were with it done seldom.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.keeping import lines_of
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.statements import STEP, margin, newline_of, starts_line
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project, pieces, reads

CAUSE = "sync-every-step"
EVERY = 50


def line(facts: Facts, project: Project) -> Site | None:
    """The statement that takes values out."""
    return named_line(facts, project) if facts.get("file") else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Put it under a test of the loop's counter; None without a counter, or where what it binds is read elsewhere."""
    module, site = module_of(facts, project), line(facts, project)
    if module is None or site is None or "column" not in facts:
        return None
    found = pieces.located(module.tree, replace(pieces.Piece.of(facts), kind="run"))
    if found is None:
        return None
    run = found[0][found[1] : found[2] + 1]
    counter = _counter(module, run[0])
    if counter is None or not starts_line(module, run[0]) or _is_read(module, run):
        return None
    indent, newline = margin(module, run[0]), newline_of(module)
    text = f"{indent}if {counter} % {EVERY} == 0:{newline}{lines_of(module, run, indent + STEP)}"
    gain = (facts.get("gain") or {}).get("gain", 0.0)
    return draft(
        project,
        root,
        CAUSE,
        [Edit(module.path, (run[0].lineno, 0), ((run[-1].end_lineno or 0) + 1, 0), text)],
        f"Do what stands at {site} at one step of {EVERY}.",
        f"The same steps were {gain:.1f} times as fast so, with the same losses; the log has one entry of {EVERY}.",
        "What else takes values out of tensors in the step.",
    )


def _counter(module: Module, statement: ast.stmt) -> str | None:
    """The name that counts the passes of the innermost loop around a statement."""
    loop = next((a for a in module.ancestors(statement) if isinstance(a, (ast.For, ast.FunctionDef))), None)
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    name = module.segment(loop.iter.func)
    if name == "range" and len(loop.iter.args) < 3 and isinstance(loop.target, ast.Name):
        return loop.target.id
    if (
        name == "enumerate"
        and isinstance(loop.target, ast.Tuple)
        and isinstance(loop.target.elts[0], ast.Name)
    ):
        return loop.target.elts[0].id
    return None


def _is_read(module: Module, run: list[ast.stmt]) -> bool:
    own = {id(n) for s in run for n in ast.walk(s)}
    made = set(reads.outputs(run))
    return any(
        n.id in made and id(n) not in own and isinstance(n.ctx, ast.Load) for n in module.nodes(ast.Name)
    )
