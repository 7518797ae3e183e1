"""A sigmoid stands before the binary loss that applies one itself.

Why: the loss sees inputs within 0 and 1 only, so no prediction falls below 0.5 or above 0.73.
Refuted by: a loss that takes probabilities, a sigmoid that only metrics see.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.activations import activations, place
from firstcause.check.code import Code, finding
from firstcause.check.losses import loss_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "sigmoid-before-bce-logits"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in loss_calls(code, ("binary_cross_entropy_with_logits",), ("BCEWithLogitsLoss",)):
        value = call.argument("input", 0)
        found = activations(code, call.module, value.node) if value is not None else set()
        if value is not None and found and found <= {"sigmoid", "softmax"}:
            origins = code.origins(call.module, value.node)
            text = "the loss applies a sigmoid and gets a value that passed one already: predictions stay within 0.5 and 0.73"
            yield finding(SLUG, CATEGORY, *place(code, origins[0]), text, related=(call.site,))


_NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return {output}

def fit(loader):
    net = Net()
    crit = nn.{cls}()
    for x, y in loader:
        loss = crit(net(x), y.float())
"""
BAD = (
    Example(_NET.format(output="torch.sigmoid(self.fc(x))  # found\n", cls="BCEWithLogitsLoss")),
    Example("""
from torch import nn
from torchvision import models

model = models.resnet18(weights="DEFAULT")
model.fc = nn.Sequential(
    nn.Linear(model.fc.in_features, 1),
    nn.Sigmoid(),  # found
)
criterion = nn.BCEWithLogitsLoss()
for images, target in loader:
    loss = criterion(model(images).squeeze(1), target.float())
"""),
    Example("""
import torch
import torch.nn.functional as F

def objective(head, x, y):
    score = head(x).sigmoid()  # found
    return F.binary_cross_entropy_with_logits(score, y)
"""),
)
GOOD = (
    Example("""
from torch import nn
from torchvision import models

model = models.resnet18(weights="DEFAULT")
width = model.fc.in_features
model.fc = nn.Sequential(nn.Linear(width, 8), nn.Sigmoid(), nn.Linear(8, 1))
criterion = nn.BCEWithLogitsLoss()
for images, target in loader:
    loss = criterion(model(images).squeeze(1), target.float())
"""),
    Example(_NET.format(output="torch.sigmoid(self.fc(x))", cls="BCELoss")),
    Example(_NET.format(output="self.fc(x)", cls="BCEWithLogitsLoss")),
    Example("""
import torch
import torch.nn.functional as F

def objective(head, x, y):
    score = head(x)
    right = (score.sigmoid() > 0.5) == y
    return F.binary_cross_entropy_with_logits(score, y), right
"""),
)
