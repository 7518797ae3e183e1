"""``model.train()`` where training goes on: in front of the loop over batches, or in it."""

from __future__ import annotations

import ast

from firstcause.fix.clearing import scope_of
from firstcause.fix.edits import Edit
from firstcause.fix.statements import inserted_line_before
from firstcause.source import Module, Project

LOOPS = (ast.For, ast.While)


def switched_on(
    project: Project, module: Module, backward: ast.stmt, receiver: str
) -> tuple[Edit, ast.stmt, str] | None:
    """The edit, the statement before which it stands, and the model's name there.

    ``backward`` is the statement that calls backward, ``receiver`` the model's name where it is evaluated.
    """
    loop = next((a for a in module.ancestors(backward) if isinstance(a, LOOPS)), None)
    scope = scope_of(module, backward)
    model = _model(module, scope, receiver)
    if loop is None or model is None:
        return None
    before = loop.body[0] if _evaluates(project, module, loop) else loop
    edit = inserted_line_before(module, before, f"{model}.train()")
    return (edit, before, model) if edit is not None else None


def _model(module: Module, scope: ast.AST, receiver: str) -> str | None:
    """What the training function calls the model: a name called in it whose last part is the receiver's, or the only one."""
    last = receiver.rpartition(".")[2]
    called = {module.segment(n.func) for n in ast.walk(scope) if isinstance(n, ast.Call)}
    same = {c for c in called if c.rpartition(".")[2] == last}
    if len(same) == 1:
        return next(iter(same))
    if last == "self":
        return "self" if isinstance(scope, ast.FunctionDef) and scope.args.args[:1] else None
    usual = called & {"model", "net", "self.model", "self.net", "network", "self.network"}
    return next(iter(usual)) if len(usual) == 1 else None


def _evaluates(project: Project, module: Module, loop: ast.For | ast.While) -> bool:
    """Whether the loop calls a function that switches to evaluation, or does so itself."""
    calls = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Call)]
    names = {c.func.attr if isinstance(c.func, ast.Attribute) else getattr(c.func, "id", "") for c in calls}
    inside = any(isinstance(c.func, ast.Attribute) and c.func.attr == "eval" and not c.args for c in calls)
    return inside or any(
        f.name in names and ".eval()" in m.segment(f)
        for m in project.modules
        for f in m.nodes(ast.FunctionDef)
    )
