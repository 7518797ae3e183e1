"""A column of predictions is compared with a row of targets: (N, 1) against (N,).

Why: both broadcast to (N, N): every prediction is compared with every target, and the model learns their mean.
Refuted by: a squeeze, view or flatten of the prediction, an unsqueeze or reshape of the target, a model whose last layer is wider
than one, a size that the code does not say.
Holds for: torch, all versions; a warning is printed once, and only by some losses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.columns import is_column_of_model, is_row
from firstcause.check.losses import loss_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "broadcast-in-loss"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

FUNCTIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
CLASSES = ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")


def find(code: Code) -> Iterator[Finding]:
    # Where rows come from, and what makes a column of one: without both there is nothing to follow.
    if not code.called_names() >= {"Linear", "TensorDataset"}:
        return
    for call in loss_calls(code, FUNCTIONS, CLASSES):
        if len(call.node.args) < 2 or any(isinstance(a, ast.Starred) for a in call.node.args):
            continue
        given, target = call.node.args[:2]
        if is_column_of_model(code, call.module, given) and is_row(code, call.module, target):
            text = (
                f"{ast.unparse(given)} is (N, 1) and {ast.unparse(target)} is (N,): they broadcast to (N, N), and each "
                f"prediction is compared with every target; {ast.unparse(given)}.squeeze(-1) makes them alike"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


_FRAME = """
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

table = pd.read_csv("houses.csv")
x = torch.tensor(table[["area", "rooms"]].values, dtype=torch.float32)
y = torch.tensor({target}, dtype=torch.float32)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, {width}))
criterion = nn.MSELoss()
opt = torch.optim.Adam(net.parameters())
for a, b in loader:
    opt.zero_grad()
    loss = criterion(net(a){shape}, b){mark}
    loss.backward()
    opt.step()
"""
_MODEL = """
import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(8, 8)
        self.head = torch.nn.Linear(8, 1)

    def forward(self, x):
        return self.head(torch.relu(self.body(x))){end}

def main():
    x = torch.randn(100, 8)
    y = x.sum(dim=1{keep})
    net = Net()
    for a, b in DataLoader(TensorDataset(x, y), batch_size=10):
        out = net(a)
        loss = F.smooth_l1_loss(out, b){mark}
        loss.backward()
"""
BAD = (
    Example(_FRAME.format(target='table["price"].values', width=1, shape="", mark="  # found")),
    Example(_MODEL.format(end="", keep="", mark="  # found")),
)
GOOD = (
    Example(_FRAME.format(target='table[["price"]].values', width=1, shape="", mark="")),
    Example(_FRAME.format(target='table["price"].to_numpy()', width=1, shape=".squeeze(-1)", mark="")),
    Example(_FRAME.format(target='table["price"].values.reshape(-1, 1)', width=1, shape="", mark="")),
    Example(_FRAME.format(target='table["price"].values', width=3, shape="", mark="")),
    Example(_MODEL.format(end=".squeeze(1)", keep="", mark="")),
    Example(_MODEL.format(end="", keep=", keepdim=True", mark="")),
)
