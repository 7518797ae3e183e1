"""When a loop of the user's own evaluates: after each epoch, or after so many steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code, Loop
from firstcause.check.evaluation import evaluation_loops
from firstcause.check.events import around, training_loops
from firstcause.check.facts.fact import Fact


def evaluation_facts(code: Code) -> Iterator[Fact]:
    """A fact of eval_strategy where an evaluation stands, or is called, in the loop around the batches."""
    for loop in training_loops(code):
        for epoch in around(code, loop)[:1]:
            inside = [
                e
                for e in evaluation_loops(code)
                if epoch.holds(e.loop.node) or _called_in(code, epoch.node, e.loop)
            ]
            if inside:
                yield Fact(
                    "eval_strategy",
                    "epoch",
                    inside[0].loop.module.site(inside[0].loop.node),
                    "the loop over epochs",
                )


def _called_in(code: Code, epoch: ast.AST, evaluation: Loop) -> bool:
    function = evaluation.module.function(evaluation.node)
    name = getattr(function, "name", "")
    return any(epoch in c.module.ancestors(c.node) for c in code.own_calls(name)) if name else False
