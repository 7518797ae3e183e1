"""Loops that evaluate: a model in evaluation mode, batches, figures, and no backward."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.check.code import Code, Loop
from firstcause.check.events import around, events, training_loops
from firstcause.check.modes import trained_by
from firstcause.check.steps import reached
from firstcause.source.module import Module, within
from firstcause.source.resolve import resolve

STEPS = ("step", "scaler-step")


@dataclass(frozen=True, eq=False)
class EvaluationLoop:
    """The loop and the first forward call in it."""

    loop: Loop
    forward: ast.Call


def evaluation_loops(code: Code) -> list[EvaluationLoop]:
    """Every innermost loop whose function puts a model into evaluation mode and calls it on what the loop iterates."""
    known: list[EvaluationLoop] | None = code.project.memory.get("evaluation loops")
    if known is None:
        found = [e for call in code.methods("eval") for e in _after(code, call.module, call.node)]
        found += _of_trained(code)
        known = list({e.loop.node: e for e in found}.values())
        code.project.memory["evaluation loops"] = known
    return known


def _of_trained(code: Code) -> list[EvaluationLoop]:
    """Loops that call a model which is trained elsewhere, walk no graph, and make numbers of what it gives."""
    trained = frozenset[ast.AST]().union(
        *(
            trained_by(code, o)
            for t in training_loops(code)
            for e in events(code, t)
            for o in e.objects
            if e.kind in STEPS
        )
    )
    inside = {t.node for t in training_loops(code)} | {
        o.node for t in training_loops(code) for o in around(code, t)
    }
    found = []
    for loop in code.loops() if trained else ():
        if loop.node in inside or not isinstance(loop.node, ast.For):
            continue
        calls = [
            n for n in loop.nodes if isinstance(n, ast.Call) and isinstance(n.func, (ast.Name, ast.Attribute))
        ]
        # What is cheap is asked first: most loops make no figure.
        if not any(_is_figure(n) for n in calls) or _walks(code, loop):
            continue
        forward = next((n for n in calls if _is_one(code, loop, n, trained)), None)
        if forward is not None:
            found.append(EvaluationLoop(loop, forward))
    return found


def _is_one(code: Code, loop: Loop, call: ast.Call, trained: frozenset[ast.AST]) -> bool:
    if not (call.args or call.keywords) or resolve(code.project, loop.module, call.func) is not None:
        return False
    made = {o.node for o in code.origins(loop.module, call.func)}
    return bool(made) and made <= trained


def _is_figure(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("item", "argmax", "tolist", "numpy")


def _after(code: Code, module: Module, call: ast.Call) -> list[EvaluationLoop]:
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return []
    model, function = call.func.value.id, module.function(call)
    found = []
    for node in within(function if function is not None else module.tree):
        if (
            not isinstance(node, ast.For)
            or node.lineno < call.lineno
            or module.function(node) is not function
        ):
            continue
        loop = Loop(module, node)
        forward = next(
            (
                n
                for n in loop.nodes
                if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == model
            ),
            None,
        )
        if forward is not None and not _walks(code, loop) and not _again(module, function, call, node, model):
            found.append(EvaluationLoop(loop, forward))
    return found


def _walks(code: Code, loop: Loop) -> bool:
    """Whether anything in the loop needs gradients: a backward, autograd.grad, requires_grad."""
    names = {"backward", "grad", "requires_grad_", "jacobian", "step"}
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in names
        for _, n in reached(code, loop)
    )


def _again(module: Module, function: ast.AST | None, call: ast.Call, loop: ast.For, model: str) -> bool:
    """Whether the model is back in training mode before the loop."""
    return any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr == "train"
        and isinstance(n.func.value, ast.Name)
        and n.func.value.id == model
        and call.lineno < n.lineno <= loop.lineno
        for n in within(function if function is not None else module.tree)
    )
