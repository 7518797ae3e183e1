"""Which loss is trained on, by the losses that the code makes or calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.makers import maker
from firstcause.source.module import DEFINED, within

LOSSES = {
    "CrossEntropyLoss": "cross_entropy", "BCELoss": "bce", "BCEWithLogitsLoss": "bce", "MSELoss": "mse", "L1Loss": "mae",
    "HuberLoss": "huber", "SmoothL1Loss": "huber", "CTCLoss": "ctc", "TripletMarginLoss": "triplet", "KLDivLoss": "kl",
    "NLLLoss": "nll", "HingeEmbeddingLoss": "hinge",
}  # fmt: skip
FUNCTIONS = {
    "cross_entropy": "cross_entropy", "binary_cross_entropy": "bce", "binary_cross_entropy_with_logits": "bce",
    "mse_loss": "mse", "l1_loss": "mae", "huber_loss": "huber", "smooth_l1_loss": "huber", "ctc_loss": "ctc",
    "triplet_margin_loss": "triplet", "kl_div": "kl", "nll_loss": "nll",
}  # fmt: skip
# Others are built of these: a focal loss calls cross entropy.
SIMPLE = frozenset({"cross_entropy", "mse", "mae", "huber"})
# In the names of functions and classes: what makes a loss, and what only tells a figure.
OWN = ("loss", "criterion", "objective")
FIGURES = ("metric", "eval")


def loss_facts(code: Code) -> Iterator[Fact]:
    """One fact for each loss of torch; where another than a simple one is asked for, they only confirm."""
    simple = all(i.value in SIMPLE for i in code.asked("loss"))
    named = [(f"torch.nn.{name}", plain) for name, plain in LOSSES.items()]
    named += [(f"torch.nn.functional.{name}", plain) for name, plain in FUNCTIONS.items()]
    for name, plain in named:
        for call in code.calls(name):
            confirms = not simple or plain not in SIMPLE or _is_part(call)
            yield Fact("loss", plain, call.site, name.rpartition(".")[2], confirms=confirms)
            if plain == "cross_entropy" and _numbers_the_batch(call):
                how = "cross entropy against the number of the sample in the batch"
                yield Fact("loss", "info_nce", call.site, how, confirms=True)
    for call in code.methods("mean") if code.asked("loss") else ():
        plain = _written(call.receiver)
        if plain:
            yield Fact("loss", plain, call.site, "the mean of differences", sure=False, confirms=True)


def _numbers_the_batch(call: Call) -> bool:
    """Whether the targets count the samples of the batch: ``cross_entropy(scores, torch.arange(n))``."""
    target = call.argument("target", 1)
    made = maker(call.code, target.module, target.node) if target is not None else None
    return made is not None and made.name == "torch.arange"


def _written(node: ast.expr | None) -> str:
    """What ``(a - b).abs().mean()`` and ``((a - b) ** 2).mean()`` are; empty for any other mean."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and _is_difference(node.func.value)
    ):
        is_square = node.func.attr == "square" or (node.func.attr == "pow" and _is_two(node.args[:1]))
        return "mse" if is_square else "mae" if node.func.attr == "abs" else ""
    is_power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _is_difference(node.left)
    return "mse" if is_power and isinstance(node, ast.BinOp) and _is_two([node.right]) else ""


def _is_difference(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def _is_two(nodes: list[ast.expr]) -> bool:
    return len(nodes) == 1 and isinstance(nodes[0], ast.Constant) and nodes[0].value == 2


def _is_part(call: Call) -> bool:
    """Whether a loss of the program's own is made of it, or it is a figure that nobody trains on."""
    outer = [n for n in call.module.ancestors(call.node) if isinstance(n, (*DEFINED, ast.ClassDef))]
    if outer and isinstance(outer[0], DEFINED) and _is_given_back(call, outer[0]):
        # ``def td_loss(…): … return F.mse_loss(value, wanted)`` is that loss under a name of its own.
        outer = [n for n in outer if not (isinstance(n, DEFINED) and _says(n.name, OWN))]
    own = any(_says(n.name, (*OWN, *FIGURES)) for n in outer)
    return own or call.code.under(call.module, call.node, "torch.no_grad", "torch.inference_mode") is not None


def _is_given_back(call: Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the function gives back this loss as it is, whatever way it takes."""
    returned = [n.value for n in within(function) if isinstance(n, ast.Return)]
    return len(returned) == 1 and returned[0] is call.node


def _says(name: str, words: tuple[str, ...]) -> bool:
    return any(word in name.lower() for word in words)
