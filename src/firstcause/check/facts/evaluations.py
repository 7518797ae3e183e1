"""When a loop of the user's own evaluates: after each epoch, or after so many steps."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from firstcause.check.code import Code, Loop
from firstcause.check.evaluation import evaluation_loops
from firstcause.check.events import around, backward_loops, training_loops
from firstcause.check.facts.fact import Fact
from firstcause.source.callsites import last_name
from firstcause.source.resolve import Defined, resolve

# What functions are called that evaluate.
_EVALUATES = re.compile(
    r"(?:^|_)(?:eval(?:s|uate|uation|uating)?|val(?:id|idate|idation)?|test(?:s|ing)?|scor(?:es?|ing)|accurac(?:y|ies)"
    r"|returns?|perplexity|ppl|metrics?|m?iou|auc|bleu|rouge|f1|wer|cer|map)(?:$|_)",
    re.IGNORECASE,
)


def evaluation_facts(code: Code) -> Iterator[Fact]:
    """A fact of eval_strategy where an evaluation stands, or is called, in the loop around the batches."""
    for loop in training_loops(code) or backward_loops(code):
        for epoch in around(code, loop)[:1]:
            inside = [
                e
                for e in evaluation_loops(code)
                if epoch.holds(e.loop.node) or _called_in(code, epoch.node, e.loop)
            ]
            how = "the loop over epochs"
            if inside:
                site = inside[0].loop.module.site(inside[0].loop.node)
                yield Fact("eval_strategy", "epoch", site, how)
            elif (call := _of_its_own(code, epoch, loop)) is not None:
                yield Fact("eval_strategy", "epoch", epoch.module.site(call), how, confirms=True)


def paced_facts(code: Code) -> Iterator[Fact]:
    """A fact of eval_steps where a test on the step decides on a call that evaluates: ``if step % 500 == 0: score(net)``."""
    if not code.asked("eval_steps"):
        return
    for loop in training_loops(code) or backward_loops(code):
        for node in (n for one in (loop, *around(code, loop)) for n in one.nodes):
            every = _paces(node)
            if every is None or not isinstance(node, ast.If):
                continue
            calls = (n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Call))
            if any(_EVALUATES.search(last_name(c.func) or "") for c in calls):
                found = code.constant(loop.module, every)
                if found is not None and type(found.value) is int and found.value > 1:
                    yield Fact("eval_steps", found.value, found.site, "a test on the step", confirms=True)
                    yield Fact("eval_strategy", "steps", found.site, "a test on the step", confirms=True)


def _paces(node: ast.AST) -> ast.expr | None:
    """The 500 of ``if step % 500 == 0``."""
    test = node.test if isinstance(node, ast.If) else None
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return None
    if "epoch" in ast.unparse(test.left):
        return None
    return test.left.right if isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Mod) else None


def _of_its_own(code: Code, epoch: Loop, loop: Loop) -> ast.Call | None:
    """A call beside the batches, which no test decides on, of a function that puts a model into evaluation mode."""
    for node in epoch.nodes:
        if not isinstance(node, ast.Call) or loop.holds(node):
            continue
        if any(isinstance(p, ast.If) and epoch.holds(p) for p in epoch.module.ancestors(node)):
            continue
        found = resolve(code.project, epoch.module, node.func)
        if not isinstance(found, Defined):
            continue
        called = {
            n.func.attr
            for n in ast.walk(found.node)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
        }
        # What trains may put its teacher into evaluation mode.
        if "eval" in called and not called & {"backward", "zero_grad"}:
            return node
    return None


def _called_in(code: Code, epoch: ast.AST, evaluation: Loop) -> bool:
    function = evaluation.module.function(evaluation.node)
    name = getattr(function, "name", "")
    return any(epoch in c.module.ancestors(c.node) for c in code.own_calls(name)) if name else False
