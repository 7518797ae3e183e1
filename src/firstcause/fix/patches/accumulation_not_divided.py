"""Losses of micro-batches that are not divided: ``(loss / steps).backward()``.

Facts:

- ``file``, ``line``: the line that calls backward.
- ``calls``: the backward calls before each optimizer step.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import atom, replaced
from firstcause.fix.scopes import statement_at
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "accumulation-not-divided"


def line(facts: Facts, project: Project) -> Site | None:
    """The backward call."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """The loss divided by what the program itself counts its micro-batches with, where it shows that."""
    module = module_of(facts, project)
    statement = statement_at(module, facts) if module is not None and facts.get("calls") else None
    loss = _loss(statement) if statement is not None else None
    count = (
        _count(facts, project, module, statement) if module is not None and statement is not None else None
    )
    if module is None or loss is None or count is None:
        return None
    inner = f"{atom(module, loss)} / {count}"
    is_argument = isinstance(module.parents.get(loss), ast.Call)
    site = module.site(loss)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, loss, inner if is_argument else f"({inner})")],
        f"Divide the loss by {count} at {site}: {facts['calls']} backward calls add up before each step.",
        f"{site}: the gradient of a step becomes the mean over its micro-batches, {facts['calls']} times smaller than now.",
        "A last group of fewer micro-batches is divided by the same number. The learning rate stays as it is.",
    )


def _loss(statement: ast.stmt) -> ast.expr | None:
    """``loss`` in ``loss.backward()``, ``scaler.scale(loss).backward()`` and ``accelerator.backward(loss)``."""
    for node in ast.walk(statement):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "backward"
        ):
            subject = node.func.value
            if (
                isinstance(subject, ast.Call)
                and isinstance(subject.func, ast.Attribute)
                and subject.func.attr == "scale"
            ):
                return subject.args[0] if subject.args else None
            return node.args[0] if node.args else subject
    return None


def _count(facts: Facts, project: Project, module: Module, statement: ast.stmt) -> str | None:
    """What stands after ``%`` in the test that lets the optimizer step, where it is the number of calls."""
    scope: ast.AST = module.function(statement) or module.tree
    found = {
        module.segment(n.right): number(project, Value(module, n.right))
        for n in ast.walk(scope)
        if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) and not isinstance(n.left, ast.Constant)
    }
    same = [text for text, value in found.items() if value == facts.get("calls")]
    window = _window(module, statement) or _counted(facts, project, module, statement)
    if not found and window is not None:
        return window
    unknown = [text for text, value in found.items() if value is None]
    if len(same) == 1:
        return same[0]
    return unknown[0] if not same and len(unknown) == 1 and len(found) == 1 else None


def _window(module: Module, statement: ast.stmt) -> str | None:
    """The list that the loop around the backward call goes through, where the program makes it a list."""
    loop = next((p for p in module.ancestors(statement) if isinstance(p, (ast.For, ast.While))), None)
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Name):
        return None
    steps = [
        c
        for c in ast.walk(loop)
        if isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute) and c.func.attr == "step"
    ]
    name = loop.iter.id
    made = [
        n.value
        for n in ast.walk(module.function(statement) or module.tree)
        if (isinstance(n, ast.NamedExpr) and n.target.id == name)
        or (isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in n.targets))
    ]
    lists = [m for m in made if isinstance(m, (ast.List, ast.ListComp, ast.Tuple)) or _calls_list(m)]
    return f"len({name})" if not steps and made and len(lists) == len(made) else None


def _counted(facts: Facts, project: Project, module: Module, statement: ast.stmt) -> str | None:
    """The number that the loop around the backward call says itself: ``range(k)``, ``islice(feed, k)``, ``chunk(k)``."""
    loop = next((p for p in module.ancestors(statement) if isinstance(p, (ast.For, ast.While))), None)
    if not isinstance(loop, ast.For) or ".step(" in module.segment(loop):
        return None
    for call in module.inside(loop.iter, ast.Call):
        name = module.segment(call.func).rpartition(".")[2]
        takes = {"range": 1, "islice": 2, "chunk": 1, "tensor_split": 1}.get(name)
        if takes is None or len(call.args) != takes or call.keywords:
            continue
        if number(project, Value(module, call.args[-1])) in (None, facts["calls"]):
            return module.segment(call.args[-1])
    return None


def _calls_list(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple")
    )
