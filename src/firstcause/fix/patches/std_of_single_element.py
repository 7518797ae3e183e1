"""The unbiased std or var of one value: its population form is taken.

Facts:

- ``file``, ``line``: the user's line of the spread; ``column``, ``end_column``, ``end_line`` as for log-of-zero.
- ``values``: of how many values it was computed.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, call_operand, candidates, module_of, operation_line
from firstcause.fix.rewrite import added_keyword, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "std-of-single-element"
NAMES = frozenset({"std", "var", "std_mean", "var_mean"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the spread."""
    return operation_line(facts, project, _operand)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Divide by n instead of n - 1; None where the call is not the program's own."""
    module = module_of(facts, project)
    found = candidates(project, module, facts, _operand) if module is not None else []
    if module is None or len(found) != 1 or not isinstance(found[0][0], ast.Call):
        return None
    call = found[0][0]
    edits = _population(module, call)
    if not edits:
        return None
    text, site = module.segment(call), module.site(call)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Take the population form of the spread at {site}: `{text}` of one value divides by n - 1 = 0.",
        f"{site}: the spread divides by n instead of n - 1; of one value it is 0 instead of NaN, of n values it is "
        "smaller by the factor sqrt((n - 1) / n).",
        "That there is only one value: its spread is 0 now, and what is divided by it needs an epsilon of its own.",
    )


def _operand(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    return call_operand(project, module, node, NAMES)


def _population(module: Module, call: ast.Call) -> list[Edit]:
    if any(isinstance(a, ast.Constant) and isinstance(a.value, bool) for a in call.args):
        # The old form, std(dim, unbiased, keepdim), by position.
        return []
    for keyword in call.keywords:
        if keyword.arg in ("unbiased", "correction"):
            return [replaced(module, keyword.value, "False" if keyword.arg == "unbiased" else "0")]
    return [added_keyword(module, call, "unbiased=False")]
