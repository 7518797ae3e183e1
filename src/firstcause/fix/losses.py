"""The loss call on a line, and which of its arguments are the targets."""

from __future__ import annotations

import ast

from firstcause.fix.operations import Facts, module_of
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.callees import callees, library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

LOSSES = frozenset({"cross_entropy", "nll_loss", "nll_loss2d", "multi_margin_loss", "gaussian_nll_loss"})
LOSS_CLASSES = frozenset({"CrossEntropyLoss", "NLLLoss", "MultiMarginLoss", "NLLLoss2d"})


def target_of(facts: Facts, project: Project) -> Value | None:
    """The targets given to the classification loss on the line of the facts; None where no such call stands there."""
    module = module_of(facts, project)
    if module is None:
        return None
    calls = [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call)]
    found = [c for c in calls if _is_loss(project, module, c)]
    given = argument(found[0], 1, "target") if len(found) == 1 else None
    return Value(module, given.node, None, given.path) if given is not None else None


def _is_loss(project: Project, module: Module, call: ast.Call) -> bool:
    value = Value(module, call)
    if library_name(new_walk(project), value).rpartition(".")[2] in LOSSES:
        return True
    walk = new_walk(project, spread=True)
    for origin in walk.callables(value.at(call.func)):
        if isinstance(origin.node, ast.Call):
            made = {c.name.rpartition(".")[2] for c in callees(walk, Value(origin.module, origin.node))}
            if made & LOSS_CLASSES:
                return True
    return False
