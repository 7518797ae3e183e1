"""Fixes of training loops: gradients cleared, unscaled before they are clipped, numbers kept without their graphs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from firstcause.check.fixes.edits import Edit, line_after, line_before, replaced
from firstcause.schema.finding import Finding
from firstcause.source.module import Module


def clear_gradients(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """``optimizer.zero_grad()`` right after the step that nothing clears up after."""
    for node in nodes:
        if isinstance(node, ast.Call) and _is_method(node, "step") and isinstance(node.func, ast.Attribute):
            edit = line_after(module, node, f"{module.segment(node.func.value)}.zero_grad()")
            return [edit] if edit is not None else []
    return []


def unscale_first(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """``scaler.unscale_(optimizer)`` before the clipping, where the scaler's step stands in the same block after it."""
    clip = next((n for n in nodes if isinstance(n, ast.Call)), None)
    statement = module.statement(clip) if clip is not None else None
    block = _block(module, statement) if statement is not None else []
    if statement is None or any(_call_of(s, "unscale_") for s in block):
        return []
    step = next((c for s in block if s.lineno > statement.lineno and (c := _call_of(s, "step"))), None)
    if step is None or not step.args or not isinstance(step.func, ast.Attribute):
        return []
    text = f"{module.segment(step.func.value)}.unscale_({module.segment(step.args[0])})"
    edit = line_before(module, statement, text)
    return [edit] if edit is not None else []


def keep_the_number(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """``.item()`` on a loss that is added up or put into a list."""
    for node in nodes:
        value: ast.expr | None = None
        if isinstance(node, ast.AugAssign):
            value = node.value
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            value = node.value.right
        elif isinstance(node, ast.Call) and _is_method(node, "append") and len(node.args) == 1:
            value = node.args[0]
        if isinstance(value, (ast.Name, ast.Attribute)):
            return [replaced(module, value, f"{module.segment(value)}.item()")]
    return []


def tell_the_epoch(module: Module, nodes: Sequence[ast.AST], finding: Finding) -> list[Edit]:
    """``sampler.set_epoch(epoch)`` at the head of the loop over epochs, where both have names in one function."""
    loop = next((n for n in nodes if isinstance(n, ast.For)), None)
    if loop is None or not isinstance(loop.target, ast.Name) or not finding.related:
        return []
    if finding.related[0].file != module.name:
        return []
    name = loop.target.id
    line = finding.related[0].line
    made = [n for n in module.nodes(ast.Assign) if n.lineno <= line <= (n.end_lineno or n.lineno)]
    target = made[0].targets[0] if made else None
    if not isinstance(target, ast.Name) or module.function(made[0]) is not module.function(loop):
        return []
    if name == "_":
        return []
    edit = line_before(module, loop.body[0], f"{target.id}.set_epoch({name})")
    return [edit] if edit is not None and loop.body[0].lineno > loop.lineno else []


def _block(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    parent = module.parents.get(statement)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def _call_of(statement: ast.stmt, attribute: str) -> ast.Call | None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return call if isinstance(call, ast.Call) and _is_method(call, attribute) else None


def _is_method(call: ast.Call, attribute: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == attribute
