"""Faults of modules, devices and names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from injected.source import Edit, Source, replaced, span


def plain_list(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"(torch\.)?nn\.ModuleList"):
        statement = source.statement(call)
        if (
            len(call.args) == 1
            and isinstance(call.args[0], (ast.List, ast.ListComp))
            and isinstance(statement, ast.Assign)
            and statement.value is call
            and ast.unparse(statement.targets[0]).startswith("self.")
        ):
            yield replaced(call, source.segment(call.args[0]))


def plain_tensor(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"self\.register_buffer"):
        if (
            len(call.args) >= 2
            and isinstance(call.args[0], ast.Constant)
            and isinstance(source.parents[call], ast.Expr)
        ):
            yield replaced(
                source.parents[call], f"self.{call.args[0].value} = {source.segment(call.args[1])}"
            )


def init_removed(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"super\(.*\)\.__init__"):
        cls = source.around(call, ast.ClassDef)
        if (
            isinstance(cls, ast.ClassDef)
            and any(re.fullmatch(r"(torch\.)?nn\.Module", ast.unparse(b)) for b in cls.bases)
            and not call.args
            and not call.keywords
        ):
            function = source.around(call, ast.FunctionDef)
            if isinstance(function, ast.FunctionDef) and re.search(
                r"self\.\w+ = (torch\.)?nn\.", ast.unparse(function)
            ):
                yield replaced(source.statement(call), "pass")


def not_moved(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and re.fullmatch(r"(\w+)\.to\((self\.)?device\)", ast.unparse(node.value))
            and source.in_loop(node)
        ):
            target = ast.unparse(node.targets[0])
            if target == ast.unparse(node.value.func)[: -len(".to")]:
                yield replaced(node, "pass")


def model_not_moved(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        if (
            isinstance(node, (ast.Assign, ast.Expr))
            and isinstance(node.value, ast.Call)
            and re.fullmatch(r"(model|net)\.(to\(device\)|cuda\(\))", ast.unparse(node.value))
        ):
            yield replaced(node, "pass")


def optimizer_early(source: Source) -> Iterator[Edit]:
    """A head put in place after the optimizer was made."""
    for node in source.nodes:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and re.search(r"optim\.(Adam|AdamW|SGD)$", ast.unparse(node.value.func))
            and node.value.args
        ):
            match = re.fullmatch(r"(model|net)\.parameters\(\)", ast.unparse(node.value.args[0]))
            made = [
                n
                for n in source.nodes
                if isinstance(n, ast.Assign)
                and ast.unparse(n.targets[0]) == (match[1] if match else "")
                and "models." in ast.unparse(n.value)
            ]
            if (
                match
                and made
                and re.search(r"^from torch import nn|^import torch\.nn as nn", source.text, re.M)
            ):
                end = span(node)[1]
                yield Edit(
                    node.lineno,
                    (
                        (
                            end,
                            end,
                            f"\n{' ' * node.col_offset}{match[1]}.fc = nn.Linear({match[1]}.fc.in_features, 7)",
                        ),
                    ),
                )


def misspelt(source: Source) -> Iterator[Edit]:
    """A local name, read in a call's arguments, with two of its letters exchanged."""
    for call in source.calls(r"[\w.]+"):
        for given in call.args:
            if (
                isinstance(given, ast.Name)
                and len(given.id) > 5
                and given.id[2] != given.id[3]
                and source.in_loop(call)
            ):
                wrong = given.id[:2] + given.id[3] + given.id[2] + given.id[4:]
                if not re.search(rf"\b{wrong}\b", source.text):
                    yield replaced(given, wrong)
                    return


def import_removed(source: Source) -> Iterator[Edit]:
    for node in source.tree.body:
        if (
            isinstance(node, ast.Import)
            and len(node.names) == 1
            and ast.unparse(node)
            in ("import numpy as np", "import torch.nn.functional as F", "import os", "import torch")
        ):
            yield replaced(node, "pass")


def no_parentheses(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"[\w.]*optim\w*\.(step|zero_grad)"):
        if isinstance(source.parents[call], ast.Expr) and not call.args:
            yield replaced(call, source.segment(call.func))


def best_by_reference(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"(copy\.)?deepcopy"):
        if call.args and re.fullmatch(r"[\w.]+\.state_dict\(\)", ast.unparse(call.args[0])):
            yield replaced(call, source.segment(call.args[0]))
