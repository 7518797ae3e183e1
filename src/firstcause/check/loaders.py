"""The loaders whose batches train: what a training loop goes over, or Lightning is given for it."""

from __future__ import annotations

import ast

from firstcause.check.code import Call, Code
from firstcause.check.events import backward_loops, training_loops
from firstcause.check.makers import maker
from firstcause.check.prepared import given_to_prepare
from firstcause.check.sequences import looped_over

LOADER = "torch.utils.data.DataLoader"


def training_loaders(code: Code) -> list[Call]:
    """The calls that make them, each once."""
    known: list[Call] | None = code.project.memory.get("training loaders")
    if known is None:
        unique = {c.node: c for c in (*_looped(code), *_of_lightning(code))}
        known = code.project.memory["training loaders"] = list(unique.values())
    return known


def _looped(code: Code) -> list[Call]:
    found = []
    for loop in training_loops(code) or backward_loops(code):
        over = looped_over(loop)
        made = maker(code, loop.module, over) if over is not None else None
        if made is not None and made.name.rpartition(".")[2] == "prepare" and over is not None:
            given = given_to_prepare(loop.module, over)
            made = maker(code, loop.module, given) if given is not None else None
        if made is not None and made.name == LOADER:
            found.append(made)
    return found


def _of_lightning(code: Code) -> list[Call]:
    """What ``train_dataloader`` gives back."""
    if not code.imports("lightning") and not code.imports("pytorch_lightning"):
        return []
    found = []
    for module in code.modules:
        for function in module.nodes(ast.FunctionDef):
            if function.name != "train_dataloader":
                continue
            for node in ast.walk(function):
                value = node.value if isinstance(node, ast.Return) else None
                made = maker(code, module, value) if value is not None else None
                if made is not None and made.name == LOADER:
                    found.append(made)
    return found
