"""Loops that write a text token by token: a forward whose input is what the loop makes longer."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.check.code import Code, Loop


@dataclass(frozen=True, eq=False)
class TokenLoop:
    """The loop, the forward call in it, and the name of the text that grows."""

    loop: Loop
    forward: ast.Call
    name: str


def token_loops(code: Code) -> list[TokenLoop]:
    """Every loop in which a model is called on a tensor that the loop lengthens by torch.cat."""
    known: list[TokenLoop] | None = code.project.memory.get("token loops")
    if known is None:
        known = [t for loop in code.loops() for t in _of(code, loop)]
        code.project.memory["token loops"] = known
    return known


def _of(code: Code, loop: Loop) -> list[TokenLoop]:
    grown = {
        n.targets[0].id
        for n in loop.module.inside(loop.node, ast.Assign)
        if _grows(n) and isinstance(n.targets[0], ast.Name)
    }
    if not grown:
        return []
    for node in loop.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in (
            "cat",
            "append",
            "size",
            "generate",
            "softmax",
        ):
            continue
        given = [*node.args, *(k.value for k in node.keywords)]
        name = next((g.id for g in given if isinstance(g, ast.Name) and g.id in grown), None)
        if name is not None and _is_model(code, loop, node):
            return [TokenLoop(loop, node, name)]
    return []


def _grows(node: ast.AST) -> bool:
    """``ids = torch.cat([ids, token], …)``."""
    if (
        not isinstance(node, ast.Assign)
        or len(node.targets) != 1
        or not isinstance(node.targets[0], ast.Name)
    ):
        return False
    call = node.value
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr not in ("cat", "concat", "hstack")
    ):
        return False
    return any(isinstance(n, ast.Name) and n.id == node.targets[0].id for a in call.args for n in ast.walk(a))


def _is_model(code: Code, loop: Loop, call: ast.Call) -> bool:
    """Loaded by from_pretrained, or called for its logits."""
    made = code.made_by(loop.module, call.func)
    if any(m.endswith("from_pretrained") for m in made):
        return True
    parent = loop.module.parents.get(call)
    return isinstance(parent, ast.Attribute) and parent.attr == "logits"
