"""What a name stands for behind ``a, b, c = accelerator.prepare(x, y, z)``, and which objects are optimizers and schedules."""

from __future__ import annotations

import ast
from typing import Literal

from firstcause.check.code import Code
from firstcause.check.library_names import shortest
from firstcause.check.steps import is_optimizer
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

Stepped = Literal["optimizer", "schedule", ""]
OF_TRANSFORMERS = frozenset(
    f"transformers.get_{name}"
    for name in (
        "scheduler", "linear_schedule_with_warmup", "cosine_schedule_with_warmup", "constant_schedule_with_warmup",
        "polynomial_decay_schedule_with_warmup", "cosine_with_hard_restarts_schedule_with_warmup",
    )
)  # fmt: skip


def stepped(code: Code, module: Module, node: ast.expr) -> Stepped:
    """Whether an object is surely an optimizer of torch, or a schedule of torch or transformers, prepared or not."""
    names = {_class(code, o.module, o.node) for o in code.origins(module, node)}
    if names and all("prepare" in n.rpartition(".")[2] for n in names):
        given = given_to_prepare(module, node)
        names = (
            {_class(code, o.module, o.node) for o in code.origins(module, given)}
            if given is not None
            else set()
        )
    if names and all(is_optimizer(n) for n in names):
        return "optimizer"
    if names and all(n in OF_TRANSFORMERS or n.startswith("torch.optim.lr_scheduler.") for n in names):
        return "schedule"
    return ""


def _class(code: Code, module: Module, node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    name = shortest(external(resolve(code.project, module, node.func)))
    return name or (f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else "")


def given_to_prepare(module: Module, node: ast.expr) -> ast.expr | None:
    """The argument of ``prepare`` at the place at which its result is given this name."""
    if not isinstance(node, ast.Name):
        return None
    for statement in module.nodes(ast.Assign):
        target, value = statement.targets[0], statement.value
        if (
            not isinstance(value, ast.Call)
            or not isinstance(value.func, ast.Attribute)
            or value.func.attr != "prepare"
            or module.function(statement) is not module.function(node)
        ):
            continue
        if isinstance(target, ast.Name) and target.id == node.id and len(value.args) == 1:
            return value.args[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == len(value.args):
            for name, given in zip(target.elts, value.args, strict=True):
                if isinstance(name, ast.Name) and name.id == node.id and not isinstance(given, ast.Starred):
                    return given
    return None
