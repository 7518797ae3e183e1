"""Faults of the order and the modes of a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from injected.source import Edit, Source, removed, replaced, span, swapped


def no_grad_removed(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        if (
            isinstance(node, ast.With)
            and re.fullmatch(r"torch\.(no_grad|inference_mode)\(\)", ast.unparse(node.items[0].context_expr))
            and len(node.items) == 1
        ):
            function = source.around(node, ast.FunctionDef)
            if function is not None and re.search(r"eval|valid|test", getattr(function, "name", "")):
                start = (node.lineno, node.col_offset)
                end = (
                    node.items[0].context_expr.end_lineno or 0,
                    node.items[0].context_expr.end_col_offset or 0,
                )
                yield Edit(start[0], ((start, end, "if True"),))


def eval_removed(source: Source) -> Iterator[Edit]:
    if len(list(source.calls(r"[\w.]+\.eval"))) == 1 and list(source.calls(r"[\w.]+\.train")):
        yield from removed(source, r"[\w.]+\.eval")


def train_before_loop(source: Source) -> Iterator[Edit]:
    """``model.train()`` taken out of the loop of epochs in which ``model.eval()`` stays."""
    for call in source.calls(r"[\w.]+\.train"):
        loop = source.around(call, ast.For, ast.FunctionDef)
        if (
            isinstance(loop, ast.For)
            and isinstance(source.parents[call], ast.Expr)
            and re.search(r"\.eval\(\)", ast.unparse(loop))
            and len(re.findall(r"\.train\(\)", ast.unparse(loop))) == 1
        ):
            before = " " * loop.col_offset
            start = (loop.lineno, loop.col_offset)
            text = f"{source.segment(call)}\n{before}"
            yield Edit(call.lineno, ((start, start, text), (*span(source.parents[call]), "pass")))


def frozen(source: Source) -> Iterator[Edit]:
    """The training loop's forward and backward under ``no_grad``."""
    for call in source.calls(r"\w*loss\w*\.backward"):
        loop = source.around(call, ast.For, ast.FunctionDef)
        if isinstance(loop, ast.For) and loop.end_lineno is not None and loop.end_lineno - loop.lineno < 60:
            first, last = loop.body[0].lineno, loop.end_lineno
            if any('"""' in source.lines[i] for i in range(first - 1, last)):
                continue
            pad = " " * loop.body[0].col_offset
            changes = [((first, 0), (first, 0), f"{pad}with torch.no_grad():\n    ")]
            changes += [
                ((i, 0), (i, 0), "    ") for i in range(first + 1, last + 1) if source.lines[i - 1].strip()
            ]
            yield Edit(call.lineno, tuple(changes))
            return


def clip_after_step(source: Source) -> Iterator[Edit]:
    yield from swapped(
        source, r"(torch\.)?nn\.utils\.clip_grad_norm_|clip_grad_norm_", r"[\w.]*optim\w*\.step"
    )


def scaler_removed(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"(self\.)?scaler\.scale\(\w+\)\.backward"):
        assert isinstance(call.func, ast.Attribute)
        assert isinstance(call.func.value, ast.Call)
        changes = [(*span(call.func.value), source.segment(call.func.value.args[0]))]
        for step in source.calls(r"(self\.)?scaler\.(step|unscale_|update)"):
            attribute = ast.unparse(step.func).rpartition(".")[2]
            given = f"{source.segment(step.args[0])}.step()" if attribute == "step" and step.args else "None"
            changes.append((*span(step), given))
        yield Edit(call.lineno, tuple(changes))
        return


def backward_of_accelerate(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"(self\.)?accelerator\.backward"):
        yield replaced(call, f"{source.segment(call.args[0])}.backward()")


def not_prepared(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and re.fullmatch(r"accelerator\.prepare", ast.unparse(node.value.func))
            and len(node.value.args) > 2
            and isinstance(node.targets[0], ast.Tuple)
        ):
            place = next((i for i, a in enumerate(node.value.args) if "optim" in ast.unparse(a)), None)
            if place is not None and len(node.targets[0].elts) == len(node.value.args):
                left = [source.segment(t) for i, t in enumerate(node.targets[0].elts) if i != place]
                right = [source.segment(a) for i, a in enumerate(node.value.args) if i != place]
                yield replaced(node, f"{', '.join(left)} = accelerator.prepare({', '.join(right)})")
