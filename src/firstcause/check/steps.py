"""Where optimizers step and what a loop reaches, through the project's own functions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from firstcause.catalog.wording import word_set
from firstcause.check.code import Call, Code, Loop
from firstcause.source.callees import callees
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.functions import body_nodes
from firstcause.source.module import Module

# Calls of calls of calls: further in, it is another story.
DEPTH = 5
OPTIMIZERS = word_set(
    "Adadelta Adafactor Adagrad Adam AdamW SparseAdam Adamax ASGD LBFGS Muon NAdam RAdam RMSprop Rprop SGD"
)


def is_optimizer(name: str) -> bool:
    """Whether a library's dotted name is an optimizer class of torch."""
    return name.startswith("torch.optim.") and name.rpartition(".")[2] in OPTIMIZERS


def optimizer_steps(code: Code) -> list[Call]:
    """The calls ``x.step()`` where ``x`` is an optimizer of torch, and nothing else as far as the code says."""
    return [c for c in code.methods("step") if c.receiver is not None and _is_made_one(code, c)]


def _is_made_one(code: Code, call: Call) -> bool:
    assert call.receiver is not None
    made = code.made_by(call.module, call.receiver)
    return bool(made) and all(is_optimizer(name) for name in made)


def reaches(code: Code, loop: Loop, wanted: Callable[[ast.AST], bool]) -> bool:
    """Whether a node of the loop's body, or of a function that it calls, is wanted."""
    return any(wanted(node) for _, node in reached(code, loop))


def reached(code: Code, loop: Loop) -> list[tuple[Module, ast.AST]]:
    """Every node of the loop's body and of the project's functions that it calls, those deeper than ``DEPTH`` excepted."""
    found: list[tuple[Module, ast.AST]] = []
    seen: set[ast.AST] = set()
    waiting = [(loop.module, node, 0) for node in loop.nodes]
    while waiting:
        module, node, depth = waiting.pop()
        found.append((module, node))
        if not isinstance(node, ast.Call) or depth >= DEPTH:
            continue
        for callee in callees(new_walk(code.project), Value(module, node)):
            if callee.function is not None and callee.module is not None and callee.function not in seen:
                seen.add(callee.function)
                waiting += [(callee.module, inner, depth + 1) for inner in body_nodes(callee.function)]
    return found
