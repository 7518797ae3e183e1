"""Faults on the way from a model's output to the backward."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from injected.source import Edit, Source, replaced, span


def softmax_first(source: Source) -> Iterator[Edit]:
    for call in source.calls(
        r"F\.cross_entropy|torch\.nn\.functional\.cross_entropy|nn\.functional\.cross_entropy"
    ):
        if call.args:
            yield replaced(call.args[0], f"{source.segment(call.args[0])}.softmax(-1)")


def softmax_in_forward(source: Source) -> Iterator[Edit]:
    if not re.search(r"CrossEntropyLoss\(|cross_entropy\(", source.text) or not re.search(
        r"import torch$|import torch\n", source.text
    ):
        return
    classes = [
        n
        for n in source.tree.body
        if isinstance(n, ast.ClassDef) and any("Module" in ast.unparse(b) for b in n.bases)
    ]
    if len(classes) != 1:
        return
    for function in classes[0].body:
        if (
            isinstance(function, ast.FunctionDef)
            and function.name == "forward"
            and isinstance(function.body[-1], ast.Return)
            and function.body[-1].value is not None
        ):
            value = function.body[-1].value
            if isinstance(value, (ast.Name, ast.Call)) and "softmax" not in ast.unparse(value):
                yield replaced(value, f"torch.softmax({source.segment(value)}, dim=1)")


def bce_plain(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"(torch\.)?nn\.BCEWithLogitsLoss"):
        if not call.args and not call.keywords:
            yield replaced(call.func, "torch.nn.BCELoss" if "import torch\n" in source.text else "nn.BCELoss")


def sigmoid_first(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"F\.binary_cross_entropy_with_logits"):
        if call.args:
            yield replaced(call.args[0], f"{source.segment(call.args[0])}.sigmoid()")


def arguments_swapped(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"F\.(cross_entropy|nll_loss)|criterion"):
        is_loss = "CrossEntropyLoss" in source.text or "F." in ast.unparse(call.func)
        if (
            is_loss
            and len(call.args) == 2
            and not call.keywords
            and not isinstance(call.args[1], ast.Starred)
        ):
            one, two = call.args
            yield Edit(call.lineno, ((*span(one), source.segment(two)), (*span(two), source.segment(one))))


def item_dropped(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add)
            and re.fullmatch(r"\w*loss\w*\.item\(\)", ast.unparse(node.value))
        ):
            yield replaced(node.value, ast.unparse(node.value)[: -len(".item()")])


def appended_tensor(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"[\w.]+\.append"):
        if (
            len(call.args) == 1
            and re.fullmatch(r"\w*loss\w*\.item\(\)", ast.unparse(call.args[0]))
            and source.in_loop(call)
        ):
            yield replaced(call.args[0], ast.unparse(call.args[0])[: -len(".item()")])


def detached(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"\w*loss\w*\.backward"):
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            name = call.func.value.id
            start = (call.lineno, source.statement(call).col_offset)
            yield Edit(
                call.lineno, ((start, start, f"{name} = {name}.detach().requires_grad_()\n{' ' * start[1]}"),)
            )


def accumulation(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.BinOp)
            and isinstance(node.value.op, ast.Div)
            and re.fullmatch(r"\w*loss\w* / [\w.]*accum\w*", ast.unparse(node.value))
        ):
            yield replaced(node.value, source.segment(node.value.left))
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Div)
            and re.search(r"accum", ast.unparse(node.value))
        ):
            yield replaced(node, "pass")


def argmax_batch(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"\w+\.argmax|torch\.argmax"):
        for given in [*call.args, *(k.value for k in call.keywords)]:
            if (
                isinstance(given, ast.Constant)
                and given.value == 1
                and re.search(r"acc|correct|pred", ast.unparse(source.statement(call)))
            ):
                yield replaced(given, "0")
