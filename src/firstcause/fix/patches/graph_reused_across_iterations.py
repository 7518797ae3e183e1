"""A part of the graph is built before the loop and walked in each iteration: it is built in each iteration.

Facts:

- ``age``: when the part was made: ``before the loop`` or ``an earlier pass``.
- ``holders``: the names that hold its tensor, outermost frame first: file, line, function, first_line, name, attribute, class.
- ``made``: where the pass itself made it, before its own loop, instead of the two above.
- ``loop``: the place of the loop or function that is one iteration; ``use``, ``backward``: where the tensor is used, and walked.
"""

from __future__ import annotations

import ast

from firstcause.fix.bindings import Binding, binding_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.scopes import statement_at
from firstcause.fix.statements import blocks_of, inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Project

CAUSE = "graph-reused-across-iterations"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that binds the older tensor; where no name holds it, the line that uses it."""
    found = _binding(facts, project)
    if found is not None:
        return found.module.site(found.statement)
    for place in (facts.get("use"), facts.get("backward")):
        if place and module_of(place, project) is not None:
            return named_line(place, project)
    return None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Move the statement to the top of the loop's body; None where it does not stand before the loop itself."""
    found = _binding(facts, project)
    known = facts.get("age") == "before the loop" or "made" in facts
    if found is None or found.loop is None or not known:
        return None
    edits = _moved(found)
    if not edits:
        return None
    text, site = found.module.segment(found.statement), found.module.site(found.statement)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Compute `{text.splitlines()[0]}` in each iteration: its graph is freed by the first backward.",
        f"{site} moves into the loop at {found.module.site(found.loop)}; it is computed once an iteration, from the "
        f"weights of that iteration.",
        "The time that it takes: retain_graph=True would save it, and train on the values of the first iteration.",
    )


def _binding(facts: Facts, project: Project) -> Binding | None:
    """What binds the older tensor: by the names that held it, or the statement from which the pass itself made it."""
    made, again = facts.get("made") or {}, facts.get("backward") or {}
    module = module_of(made, project) if made else None
    statement = statement_at(module, made) if module is not None else None
    walks = statement_at(module, again) if module is not None else None
    if module is None or statement is None or walks is None:
        return binding_of(facts, project)
    loops = [p for p in module.ancestors(walks) if isinstance(p, (ast.For, ast.While))]
    outside = [p for p in loops if statement not in ast.walk(p)]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
    return Binding(module, statement, outside[-1] if outside and name else None, name)


def _moved(found: Binding) -> list[Edit]:
    statement, loop, module = found.statement, found.loop, found.module
    if not isinstance(loop, (ast.For, ast.While)) or not isinstance(statement, ast.Assign):
        return []
    parent = module.parents.get(loop)
    block = next((b for b in blocks_of(parent) if loop in b and statement in b), None)
    if block is None or statement.end_lineno != statement.lineno:
        return []
    between = block[block.index(statement) + 1 : block.index(loop)]
    if any(isinstance(n, ast.Name) and n.id == found.name for s in between for n in ast.walk(s)):
        return []
    header = [loop.test] if isinstance(loop, ast.While) else [loop.iter, loop.target]
    if any(isinstance(n, ast.Name) and n.id == found.name for h in header for n in ast.walk(h)):
        return []
    text = module.lines[statement.lineno - 1].strip()
    rest = text.removeprefix(module.segment(statement)).strip()
    if not text.startswith(module.segment(statement)) or (rest and not rest.startswith("#")):
        return []
    inserted = inserted_line_before(module, loop.body[0], text)
    if inserted is None:
        return []
    return [Edit(module.path, (statement.lineno, 0), (statement.lineno + 1, 0), ""), inserted]
