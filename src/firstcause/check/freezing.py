"""Where all parameters of a model are frozen, and whether anything is made trainable again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.check.code import Call, Code
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

# What models call their parts.
PARTS = {
    "embeddings": frozenset(
        {
            "embeddings", "embedding", "embed", "embed_tokens", "wte", "wpe", "patch_embed", "patch_embedding",
            "word_embeddings", "tok_embeddings", "token_embedding", "shared",
        }
    ),
    "vision_encoder": frozenset({"vision_model", "vision_tower", "visual", "vision_encoder", "image_encoder"}),
    "text_encoder": frozenset({"text_model", "text_tower", "text_encoder", "language_model"}),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Freezing:
    """A statement that freezes all parameters of what ``model`` is, whatever they are called."""

    module: Module
    node: ast.stmt
    model: ast.expr


def freezings(code: Code) -> Iterator[Freezing]:
    """``for p in model.parameters(): p.requires_grad = False`` without a test, and ``model.requires_grad_(False)``."""
    for module in code.modules:
        for loop in module.nodes(ast.For):
            over = loop.iter
            named = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute)
            if named and over.func.attr in ("parameters", "named_parameters") and not over.args:  # type: ignore[attr-defined]
                names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
                if any(_freezes(statement, names) for statement in loop.body):
                    yield Freezing(module, loop, over.func.value)  # type: ignore[attr-defined]
    for call in code.methods("requires_grad_"):
        statement = call.module.statement(call.node)
        if call.receiver is not None and isinstance(statement, ast.stmt) and _is_false(call):
            inside = code.loop_around(call.module, call.node)
            if inside is None:
                yield Freezing(call.module, statement, call.receiver)
            else:
                yield from _each_of(call, statement)


def _each_of(call: Call, statement: ast.stmt) -> Iterator[Freezing]:
    """``for part in (vae, unet): part.requires_grad_(False)``: each of those that are written out."""
    loop = call.module.parents.get(statement)
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, (ast.Tuple, ast.List)):
        return
    if isinstance(loop.target, ast.Name) and name_of(call.receiver) == loop.target.id:
        for model in loop.iter.elts:
            if isinstance(model, (ast.Name, ast.Attribute)):
                yield Freezing(call.module, statement, model)


def frozen_part(code: Code) -> str:
    """The part that is all that is frozen, where it is one that models have a name for; empty where it is not."""
    found = list(freezings(code))
    lines = {(one.module.path, n.lineno) for one in found for n in ast.walk(one.node) if hasattr(n, "lineno")}
    elsewhere = any(
        (module.path, node.lineno) not in lines
        for module in code.modules
        for node in module.nodes(ast.Attribute)
        if node.attr == "requires_grad_" or (node.attr == "requires_grad" and isinstance(node.ctx, ast.Store))
    )
    names = {last_name(one.model) for one in found}
    return "" if elsewhere or not names else next((p for p, known in PARTS.items() if names <= known), "")


def is_copy(one: Freezing) -> bool:
    """Whether it is a copy of another model that is frozen: a target or an average beside the model that is trained."""
    written = ast.unparse(one.model)
    made = [
        a.value for a in one.module.nodes(ast.Assign) if any(ast.unparse(t) == written for t in a.targets)
    ]
    return any(
        isinstance(n, ast.Call) and last_name(n.func) in ("deepcopy", "copy", "clone")
        for value in (one.model, *made)
        for n in ast.walk(value)
    )


def _is_false(call: Call) -> bool:
    given = call.constant("requires_grad", 0)
    return given is not None and given.value is False


def _freezes(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, ast.Assign):
        target, value = statement.targets[0], statement.value
        plain = isinstance(target, ast.Attribute) and target.attr == "requires_grad"
        owner = target.value if isinstance(target, ast.Attribute) else None
        return plain and name_of(owner) in names and isinstance(value, ast.Constant) and value.value is False
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    given = [*call.args, *(k.value for k in call.keywords)]
    off = len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False
    return call.func.attr == "requires_grad_" and off and name_of(call.func.value) in names


def name_of(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def trainable_again(code: Code) -> bool:
    """Whether anything in the program may be made trainable: then what is frozen for good is not said."""
    for module in code.modules:
        for assign in module.nodes(ast.Assign):
            sets = any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" for t in assign.targets)
            if sets and not (isinstance(assign.value, ast.Constant) and assign.value.value is False):
                return True
    if any(not _is_false(c) for c in code.methods("requires_grad_")):
        return True
    return any(
        isinstance(a, ast.Constant) and a.value == "requires_grad"
        for c in code.methods_and_calls("setattr")
        for a in c.node.args
    )
