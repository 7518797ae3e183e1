"""By what a loop of the user's own keeps the best: ``if val_loss < best: best = val_loss; save()``. It only confirms."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code, Loop
from firstcause.check.events import around, backward_loops, training_loops
from firstcause.check.facts.fact import Fact
from firstcause.source.callsites import last_name

ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def best_facts(code: Code) -> Iterator[Fact]:
    """Facts of metric_for_best, by the names of what is compared with the best so far and of what computes it."""
    if not code.asked("metric_for_best"):
        return
    for loop in training_loops(code) or backward_loops(code):
        for outer in (*around(code, loop)[:1], loop):
            for node in outer.nodes:
                for name in _figures(code, outer, node):
                    site = outer.module.site(node)
                    yield Fact("metric_for_best", name, site, "what is compared with the best", confirms=True)


def _figures(code: Code, loop: Loop, node: ast.AST) -> Iterator[str]:
    if not isinstance(node, ast.If):
        return
    for test in node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]:
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ORDERS):
            continue
        sides = (test.left, test.comparators[0])
        for figure, best in (sides, sides[::-1]):
            if (
                isinstance(best, ast.Name)
                and isinstance(figure, ast.Name)
                and _follows(loop, best.id, figure.id)
            ):
                yield figure.id
                for origin in code.origins(loop.module, figure):
                    if isinstance(origin.node, ast.Call) and (made := last_name(origin.node.func)):
                        yield made


def _follows(loop: Loop, best: str, figure: str) -> bool:
    """Whether the best takes the figure's value in the loop."""
    return any(
        isinstance(n, ast.Assign)
        and any(isinstance(m, ast.Name) and m.id == best for t in n.targets for m in ast.walk(t))
        and any(isinstance(m, ast.Name) and m.id == figure for m in ast.walk(n.value))
        for n in loop.nodes
    )
