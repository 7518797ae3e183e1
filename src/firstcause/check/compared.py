"""What a program compares number by number: predictions with targets, by a loss of torch or by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.losses import loss_calls
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
SIZES = frozenset({"abs", "absolute", "pow", "square"})
MEANS = frozenset({"mean", "sum"})
CLASSES = ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")


def compared_pairs(code: Code) -> Iterator[tuple[Module, ast.AST, tuple[ast.expr, ast.expr]]]:
    """What is compared: by a loss of torch, or by a difference of which the mean of squares or sizes is taken."""
    for call in loss_calls(code, FUNCTIONS, CLASSES):
        args = call.node.args
        named = {k.arg: k.value for k in call.node.keywords if k.arg in ("input", "target")}
        if any(isinstance(a, ast.Starred) for a in args) or len(args[:2]) + len(named) != 2:
            continue
        first, second = [*args[:2], *(named[n] for n in ("input", "target") if n in named)]
        yield call.module, call.node, (first, second)
    for module in code.modules:
        for node in module.nodes(ast.BinOp):
            if isinstance(node.op, ast.Sub) and _is_mean_of_sizes(module, node):
                yield module, node, (node.left, node.right)


def _is_mean_of_sizes(module: Module, node: ast.BinOp) -> bool:
    """``((a - b) ** 2).mean()``, ``torch.abs(a - b).mean()`` and their like."""
    sized = averaged = False
    inner: ast.AST = node
    for parent in module.ancestors(node):
        if isinstance(parent, ast.stmt):
            break
        if isinstance(parent, ast.BinOp) and inner is parent.left and isinstance(parent.op, ast.Pow):
            sized = True
        elif isinstance(parent, ast.Attribute):
            sized = sized or parent.attr in SIZES
            averaged = averaged or parent.attr in MEANS
        elif isinstance(parent, ast.Call) and inner in parent.args:
            sized = sized or last_name(parent.func) in SIZES
            averaged = averaged or last_name(parent.func) in MEANS
        elif not isinstance(parent, ast.Call):
            break
        inner = parent
    return sized and averaged
