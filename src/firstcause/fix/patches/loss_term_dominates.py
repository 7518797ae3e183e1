"""One term of a loss hides the others: it gets a weight that brings its gradient to their size, or its targets another unit.

Facts:

- ``file``, ``line``, ``column``: the sum; ``operand``: 0 or 1, the side of the large term.
- ``ratio``: how many times its gradient on shared weights is that of the smallest.
- ``target``: instead of both, 0 or 1, the side of the targets in the comparison at that place; ``mean`` and ``spread`` are
  what they come to.
"""

from __future__ import annotations

import ast
import math

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, Finder, candidates, module_of, operation_line
from firstcause.fix.rewrite import atom, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "loss-term-dominates"


def _sum(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    return node.right if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) else None


def line(facts: Facts, project: Project) -> Site | None:
    """The sum of the terms, or the line on which the large one's targets are compared."""
    return operation_line(facts, project, _compared(facts) if "target" in facts else _sum)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The large term times a power of ten; None where the sum is not to be told."""
    module = module_of(facts, project)
    if module is not None and "target" in facts:
        return _standardised(facts, project, module, root)
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


def _compared(facts: Facts) -> Finder:
    """Finds the targets in ``prediction - target`` and in a call of a loss."""

    def find(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            return node.right if facts["target"] else node.left
        if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        named = [k.value for k in node.keywords if k.arg == "target"]
        if facts["target"] < len(node.args):
            return node.args[facts["target"]]
        return named[0] if named and facts["target"] else None

    return find


def _standardised(facts: Facts, project: Project, module: Module, root: str) -> Fix | None:
    found = candidates(project, module, facts, _compared(facts))
    if len(found) != 1:
        return None
    target = found[0][1]
    mean, spread = _short(float(facts["mean"])), _short(float(facts["spread"]))
    shifted = f"{atom(module, target)} {'+' if facts['mean'] < 0 else '-'} {mean.lstrip('-')}"
    site, text = module.site(target), module.segment(target)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, target, f"({shifted}) / {spread}")],
        f"Bring `{text}` to mean 0 and spread 1 at {site}: as it is, its error hides the other term.",
        f"{site}: the other term is learned too; predictions are in units of {spread} from {mean}, and this loss in its square.",
        f"What reads the predictions: they are to be multiplied by {spread}, and {mean} added.",
    )


def _short(number: float) -> str:
    """Three digits, without an exponent where it is of a usual size."""
    rounded = float(f"{number:.3g}")
    return str(int(rounded)) if rounded.is_integer() and abs(rounded) < 1e9 else str(rounded)
