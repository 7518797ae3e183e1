"""A backward that takes its gradient as contiguous: it is made so at the head of the backward.

Facts: ``file`` and ``line``: a line of the backward, its ``def`` included.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.statements import inserted_line_before
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "non-contiguous-gradient"


def line(facts: Facts, project: Project) -> Site | None:
    """The view that is refused, or the first line in the backward that uses the gradient."""
    found = _backward(facts, project)
    if found is None or not facts.get("backward"):
        return named_line(facts, project)
    module, function = found
    names = {a.arg for a in function.args.args[1:]}
    used = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id in names]
    first = min(used, key=lambda n: (n.lineno, n.col_offset), default=None)
    return module.site(first if first is not None else function)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A line ``grad = grad.contiguous()`` before the first statement; None where the backward takes several gradients."""
    found = _backward(facts, project)
    if found is None:
        return None
    module, function = found
    names = [a.arg for a in function.args.args[1:]]
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    edit = (
        inserted_line_before(module, body[0], f"{names[0]} = {names[0]}.contiguous()")
        if len(names) == 1 and body
        else None
    )
    if edit is None:
        return None
    site = module.site(function)
    return draft(
        project,
        root,
        CAUSE,
        [edit],
        f"Make the gradient contiguous at the head of the backward at {site}.",
        f"{site}: a copy is made of a gradient whose elements lie apart; others stay as they are.",
        "A formula that is wrong for contiguous gradients as well.",
    )


def _backward(facts: Facts, project: Project) -> tuple[Module, ast.FunctionDef] | None:
    module = module_of(facts, project)
    if module is None:
        return None
    wanted = int(facts["line"])
    around = [
        f
        for f in module.nodes(ast.FunctionDef)
        if f.name == "backward"
        and min([f.lineno, *(d.lineno for d in f.decorator_list)]) <= wanted <= (f.end_lineno or 0)
    ]
    return (module, around[-1]) if around else None
