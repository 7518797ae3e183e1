"""Probabilities are given to a loss that takes logits.

Why: cross entropy applies log_softmax itself; on probabilities its input spans at most 1, so the loss cannot fall below
log(1 + (C - 1) / e) and gradients shrink.
Refuted by: a loss that takes probabilities or their logarithm (nll_loss), an input that only passes softmax elsewhere.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.library_names import shortest
from firstcause.check.losses import loss_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.resolve import external, resolve
from firstcause.source.walk import Origin

SLUG = "softmax-before-cross-entropy"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

SOFTMAX = {"torch.softmax", "torch.nn.functional.softmax"}


def find(code: Code) -> Iterator[Finding]:
    for call in loss_calls(code, ("cross_entropy",), ("CrossEntropyLoss",)):
        value = call.argument("input", 0)
        origins = code.origins(call.module, value.node) if value is not None else []
        made = [o for o in origins if _is_softmax(code, o)]
        if origins and len(made) == len(origins):
            text = "cross entropy takes logits and gets the probabilities that softmax made here: it would apply softmax again"
            yield finding(SLUG, CATEGORY, made[0].module, made[0].node, text, related=(call.site,))


def _is_softmax(code: Code, origin: Origin) -> bool:
    node = origin.node
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "softmax":
        return True
    name = shortest(external(resolve(code.project, origin.module, node.func)))
    return name in SOFTMAX or code.made_by(origin.module, node.func) == {"torch.nn.Softmax"}


BAD = (
    Example("""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.head(x), dim=-1)  # found

model = Net()
criterion = nn.CrossEntropyLoss()
for x, y in []:
    loss = criterion(model(x), y)
"""),
    Example("""
import torch.nn.functional as F

def objective(logits, target):
    probabilities = F.softmax(logits, dim=1)  # found
    return F.cross_entropy(probabilities, target)
"""),
)
GOOD = (
    Example("""
import torch.nn.functional as F

def objective(logits, target):
    accuracy = (F.softmax(logits, dim=1).argmax(1) == target).float().mean()
    return F.cross_entropy(logits, target), accuracy
"""),
    Example("""
import torch.nn.functional as F

def objective(logits, target):
    return F.nll_loss(F.log_softmax(logits, dim=1), target)
"""),
    Example("""
import torch
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return x if self.training else torch.softmax(x, dim=-1)

model = Net()
criterion = nn.CrossEntropyLoss()
loss = criterion(model(torch.zeros(2, 3)), torch.zeros(2).long())
"""),
)
