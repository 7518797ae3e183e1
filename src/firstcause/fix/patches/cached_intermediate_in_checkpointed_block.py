"""A checkpointed block keeps a tensor of its forward: it is computed each time.

Facts: as for nondeterministic-recomputation.
"""

from __future__ import annotations

import ast
import tokenize

from firstcause.fix.bindings import attribute_binding
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "cached-intermediate-in-checkpointed-block"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that keeps the tensor; where it is not known, the line at which the two ways part."""
    if facts.get("attribute"):
        found = attribute_binding(project, str(facts.get("class")), str(facts["attribute"]))
        if found is not None:
            return found.module.site(found.statement)
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Take away the question whether the tensor is there already, where it stands around the assignment alone."""
    if not facts.get("attribute"):
        return None
    name = str(facts["attribute"])
    found = attribute_binding(project, str(facts.get("class")), name)
    if found is None:
        return None
    module = found.module
    question = module.parents.get(found.statement)
    if not isinstance(question, ast.If) or question.orelse or not _asks_for(question.test, name):
        return None
    edits = _unwrapped(module, question)
    site = module.site(question)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Compute `{name}` in each call of the block, without asking at {site} whether it is there.",
        f"{site}: the forward and its recomputation run the same ops; the tensor is computed once more for each.",
        "Memory: the last tensor stays in the attribute until the next call.",
    )


def _asks_for(test: ast.expr, name: str) -> bool:
    """``self.name is None``, ``key not in self.name``, ``not hasattr(self, "name")``."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = [test.left, *test.comparators]
        asked = any(isinstance(s, ast.Attribute) and s.attr == name for s in sides)
        return asked and isinstance(test.ops[0], (ast.Is, ast.NotIn))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call):
        call = test.operand
        named = len(call.args) == 2 and isinstance(call.args[1], ast.Constant) and call.args[1].value == name
        return isinstance(call.func, ast.Name) and call.func.id == "hasattr" and named
    return False


def _unwrapped(module: Module, question: ast.If) -> list[Edit]:
    first, last = question.body[0], question.body[-1]
    end = last.end_lineno or last.lineno
    if first.lineno == question.test.end_lineno or _has_long_strings(module, first.lineno, end):
        return []
    extra = first.col_offset - question.col_offset
    edits = [Edit(module.path, (question.lineno, 0), (first.lineno, 0), "")]
    for number in range(first.lineno, end + 1):
        text = module.lines[number - 1]
        if text[:extra].strip():
            return []
        if text.strip():
            edits.append(Edit(module.path, (number, 0), (number, extra), ""))
    return edits


def _has_long_strings(module: Module, first: int, last: int) -> bool:
    return any(
        t.type == tokenize.STRING and t.start[0] != t.end[0] and first <= t.end[0] and t.start[0] <= last
        for t in module.tokens
    )
