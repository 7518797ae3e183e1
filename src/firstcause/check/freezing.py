"""Where all parameters of a model are frozen, and whether anything is made trainable again."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.check.code import Call, Code
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

# What models call their embeddings.
EMBEDDINGS = frozenset(
    {
        "embeddings", "embedding", "embed", "embed_tokens", "wte", "wpe", "patch_embed", "patch_embedding",
        "word_embeddings", "tok_embeddings", "token_embedding", "shared",
    }
)  # fmt: skip


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


def only_embeddings(code: Code) -> bool:
    """Whether all that is frozen are embeddings: ``for p in model.vit.embeddings.parameters(): …``."""
    found = list(freezings(code))
    lines = {(one.module.path, n.lineno) for one in found for n in ast.walk(one.node) if hasattr(n, "lineno")}
    elsewhere = any(
        (module.path, node.lineno) not in lines
        for module in code.modules
        for node in module.nodes(ast.Attribute)
        if node.attr in ("requires_grad", "requires_grad_")
    )
    return bool(found) and not elsewhere and all(last_name(one.model) in EMBEDDINGS for one in found)


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
