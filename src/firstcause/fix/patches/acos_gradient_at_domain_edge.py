"""acos, asin or atanh at the edge of their domain: the argument is kept inside of it.

Facts:

- ``file``, ``line``: the user's line of the function; ``column``, ``end_column``, ``end_line`` as for log-of-zero.
- ``dtype``: the type of the argument.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, call_operand, candidates, module_of, operation_line
from firstcause.fix.precision import near_one, type_name
from firstcause.fix.rewrite import called, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "acos-gradient-at-domain-edge"
NAMES = frozenset({"acos", "asin", "atanh", "arccos", "arcsin", "arctanh"})
CLAMPS = frozenset({"clamp", "clip", "clamp_"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the function."""
    return operation_line(facts, project, _operand)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Keep the argument a little inside of -1..1: by the clamp that is there, or by one more."""
    module = module_of(facts, project)
    found = candidates(project, module, facts, _operand) if module is not None else []
    if module is None or len(found) != 1:
        return None
    call, operand = found[0]
    small = near_one(type_name(facts.get("dtype")))
    edits = _tightened(project, Value(module, operand), small) or called(
        module, operand, f".clamp(-1 + {small}, 1 - {small})"
    )
    text, site = module.segment(operand), module.site(call)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Keep `{text}` at {site} inside of -1..1: the derivative there is 1 / sqrt(1 - x^2), infinite at the edge.",
        f"{site}: the argument stays {small} from the edges; elements held there get no gradient, all others keep theirs.",
        "Angles of exactly 0 or pi are off by about the root of that, and such elements take no part in learning; "
        "atan2 of the cross and dot product has no edge.",
    )


def _operand(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    return call_operand(project, module, node, NAMES)


def _tightened(project: Project, value: Value, small: str) -> list[Edit]:
    """Edits of the bounds -1 and 1 of a clamp that the argument already passes."""
    origins = value_origins(project, value)
    if len(origins) != 1 or not isinstance(origins[0].node, ast.Call):
        return []
    module, call = origins[0].module, origins[0].node
    if last_name(call.func) not in CLAMPS:
        return []
    bounds = [*call.args, *(k.value for k in call.keywords)]
    known = {number(project, Value(module, b)): b for b in bounds}
    edits = []
    if -1 in known:
        edits.append(replaced(module, known[-1], f"-1 + {small}"))
    if 1 in known:
        edits.append(replaced(module, known[1], f"1 - {small}"))
    return edits
