"""The target is given where a loss takes the prediction.

Why: the loss is computed of other things, or raises: the first argument is the input that has the graph.
Refuted by: symmetric losses, a target that is the output of a trained model, names that say nothing.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.losses import loss_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.classes import external_bases
from firstcause.source.module import Module

SLUG = "loss-arguments-swapped"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Those in which it matters which comes first; mse_loss, l1_loss and smooth_l1_loss are symmetric.
NAMES = (
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "kl_div",
    "gaussian_nll_loss",
)
CLASSES = (
    "CrossEntropyLoss",
    "NLLLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "KLDivLoss",
    "MultiMarginLoss",
    "MultiLabelSoftMarginLoss",
)


def find(code: Code) -> Iterator[Finding]:
    for call in loss_calls(code, NAMES, CLASSES):
        first, second = call.argument("input", 0), call.argument("target", 1)
        if first is None or second is None:
            continue
        if _is_output(code, call.module, second.node) and not _is_output(code, call.module, first.node):
            if not _comes_from_data(code, call, first.node):
                continue
            text = (
                f"{ast.unparse(second.node)[:40]} is a model's output and stands where the target belongs; "
                f"{ast.unparse(first.node)[:40]} stands where the prediction belongs"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _is_output(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a value is what a module of torch gives when it is called."""
    origins = code.origins(module, node)
    return bool(origins) and all(_is_module_call(code, o.module, o.node) for o in origins)


def _is_module_call(code: Code, module: Module, node: ast.AST) -> bool:
    """A call of one of torch's modules, or what a forward of the project's own modules gives back."""
    inside = module.method_class(node)
    if inside is not None and "torch.nn.Module" in external_bases(code.project, module, inside):
        return True
    made = code.made_by(module, node.func) if isinstance(node, ast.Call) else set()
    return bool(made) and all(n.startswith("torch.nn.") and n.rpartition(".")[2][:1].isupper() for n in made)


def _comes_from_data(code: Code, call: Call, node: ast.expr) -> bool:
    """Whether a name is bound by a loop over batches, or is an item of one."""
    root: ast.expr = node
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name):
        return False
    loop = call.loop
    while loop is not None:
        target = loop.node.target if isinstance(loop.node, (ast.For, ast.AsyncFor)) else None
        if target is not None and any(isinstance(n, ast.Name) and n.id == root.id for n in ast.walk(target)):
            return True
        loop = code.loop_around(loop.module, loop.node)
    return False


_LOOP = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)

def fit(loader):
    net = Net()
    crit = nn.{cls}()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, labels in loader:
        out = net(x)
        loss = crit({arguments}){mark}
"""
BAD = (
    Example(_LOOP.format(cls="CrossEntropyLoss", arguments="labels, out", mark="  # found")),
    Example(_LOOP.format(cls="BCEWithLogitsLoss", arguments="labels.float(), out", mark="  # found")),
)
GOOD = (
    Example(_LOOP.format(cls="CrossEntropyLoss", arguments="out, labels", mark="")),
    Example(_LOOP.format(cls="MSELoss", arguments="labels, out", mark="")),
    Example(_LOOP.format(cls="CrossEntropyLoss", arguments="input=out, target=labels", mark="")),
)
