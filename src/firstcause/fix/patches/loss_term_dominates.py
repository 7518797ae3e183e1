"""One term of a loss hides the others: it gets a weight that brings its gradient to their size.

Facts:

- ``file``, ``line``, ``column``: the sum; ``operand``: 0 or 1, the side of the large term.
- ``ratio``: how many times its gradient on shared weights is that of the smallest.
"""

from __future__ import annotations

import ast
import math

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, candidates, module_of, operation_line
from firstcause.fix.rewrite import atom, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "loss-term-dominates"


def _sum(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    return node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) else None


def line(facts: Facts, project: Project) -> Site | None:
    """The sum of the terms."""
    return operation_line(facts, project, _sum)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The large term times a power of ten; None where the sum is not to be told."""
    module = module_of(facts, project)
    found = candidates(project, module, facts, _sum) if module is not None else []
    if module is None or len(found) != 1 or "ratio" not in facts:
        return None
    node = found[0][0]
    assert isinstance(node, ast.BinOp)
    term = node.right if facts["operand"] else node.left
    weight = f"1e-{max(1, round(math.log10(facts['ratio'])))}"
    site, text = module.site(term), module.segment(term)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, term, f"{weight} * {atom(module, term)}")],
        f"Weigh `{text}` with {weight} at {site}: its gradient on shared weights is {facts['ratio']:.3g} times another term's.",
        f"{site}: the other terms are learned too; the total is another number than before.",
        "Terms that contradict each other.",
    )
