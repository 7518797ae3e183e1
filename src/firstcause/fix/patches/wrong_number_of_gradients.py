"""A backward that returns too few gradients: None is added for the inputs that need none.

Facts:

- ``file``, ``line``, ``class``: where the backward starts, and the class that it belongs to.
- ``expected``, ``got``: the number of inputs of the forward, and of the gradients that were returned.
- ``needs``: for each input, whether it needs a gradient.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "wrong-number-of-gradients"


def line(facts: Facts, project: Project) -> Site | None:
    """The return of the backward; of several, the one that returns that many."""
    module = module_of(facts, project)
    if module is None:
        return None
    found = _returns(module, facts)
    return module.site(found[0]) if len(found) == 1 else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Return None for the last inputs where they need no gradient; None where a formula is missing or one is too many."""
    module = module_of(facts, project)
    found = _returns(module, facts) if module is not None else []
    expected, got = int(facts.get("expected") or 0), int(facts.get("got") or 0)
    if module is None or len(found) != 1 or got >= expected or any((facts.get("needs") or [True])[got:]):
        return None
    value = found[0].value
    if value is None:
        return None
    end = (value.end_lineno or value.lineno, value.end_col_offset or 0)
    if isinstance(value, ast.Tuple) and module.segment(value).endswith(")"):
        last = value.elts[-1]
        end = (last.end_lineno or last.lineno, last.end_col_offset or 0)
    return draft(
        project,
        root,
        CAUSE,
        [Edit(module.path, end, end, ", None" * (expected - got))],
        f"Return {expected} gradients from `{facts['class']}.backward`, None for the last {expected - got}.",
        f"{module.site(found[0])}: one entry for each input of forward; those that need no gradient get None.",
        "The formulas themselves: torch.autograd.gradcheck tests them.",
    )


def _returns(module: Module, facts: Facts) -> list[ast.Return]:
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        first = min([d.lineno for d in node.decorator_list] + [node.lineno])
        if int(facts["line"]) in (first, node.lineno):
            found = [n for n in ast.walk(node) if isinstance(n, ast.Return) and module.function(n) is node]
            fitting = [n for n in found if _count(n) in (None, facts.get("got"))]
            return fitting if fitting else found
    return []


def _count(node: ast.Return) -> int | None:
    """How many gradients a return gives, where its text tells."""
    if isinstance(node.value, ast.Tuple):
        return None if any(isinstance(e, ast.Starred) for e in node.value.elts) else len(node.value.elts)
    return 1 if isinstance(node.value, (ast.BinOp, ast.Constant, ast.UnaryOp)) else None
