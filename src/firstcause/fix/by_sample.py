"""The mean over the values of a sample becomes their sum; the mean over the batch stays."""

from __future__ import annotations

import ast

from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts, candidates
from firstcause.fix.rewrite import atom, replaced
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name


def summed(facts: Facts, project: Project, module: Module) -> tuple[ast.expr, Edit] | None:
    """The call that takes the mean, and the edit; None where it is not to be told or takes the batch's axis by name."""
    averages = facts["function"] == "mean"

    def find(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call):
            return None
        is_mean = last_name(node.func) == "mean" and bool(_axes(node)) == facts["axes"]
        # The name of a criterion is the program's own.
        return node if is_mean or not averages else None

    found = candidates(project, module, facts, find)
    if len(found) != 1 or not isinstance(found[0][0], ast.Call):
        return None
    call = found[0][0]
    whole = bool(facts.get("of_batch"))
    if whole and averages and facts["axes"]:
        # A mean of its own over the batch stands elsewhere.
        return None
    edit = _mean(module, call, bool(facts["axes"]), whole) if averages else _times(module, call, whole)
    return (call, edit) if edit is not None else None


def _mean(module: Module, call: ast.Call, axes: bool, whole: bool) -> Edit | None:
    """``x.mean(1)`` becomes ``x.sum(1)``; ``x.mean()`` becomes ``x.flatten(1).sum(1).mean()``, or ``x.sum()`` where ``whole``."""
    if not isinstance(call.func, ast.Attribute):
        return None
    given = call.args[0] if _of_torch(call) and call.args else call.func.value
    if not axes:
        if whole:
            return replaced(module, call, f"{atom(module, given)}.sum()")
        return replaced(module, call, f"{atom(module, given)}.flatten(1).sum(1).mean()")
    if any(isinstance(n, ast.Constant) and n.value == 0 for one in _axes(call) for n in ast.walk(one)):
        return None
    name = call.func
    end = module.span(name)[1]
    return Edit(module.path, module.position(end - len("mean")), module.position(end), "sum")


def _axes(call: ast.Call) -> list[ast.expr]:
    named = [k.value for k in call.keywords if k.arg in ("dim", "axis")]
    return [*(call.args[1:] if _of_torch(call) else call.args), *named]


def _of_torch(call: ast.Call) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id == "torch"


def _times(module: Module, call: ast.Call, whole: bool) -> Edit | None:
    """``loss(x, y)`` becomes ``loss(x, y) * y[0].numel()``, or ``y.numel()`` where ``whole``."""
    named = [k.value for k in call.keywords if k.arg == "target"]
    targets = call.args[1:2] or named
    if len(targets) != 1 or not isinstance(targets[0], (ast.Name, ast.Attribute)):
        return None
    parent = module.parents.get(call)
    text = f"{module.segment(call)} * {module.segment(targets[0])}{'' if whole else '[0]'}.numel()"
    tight = isinstance(parent, (ast.Attribute, ast.UnaryOp)) or (
        isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)
    )
    return replaced(module, call, f"({text})" if tight else text)
