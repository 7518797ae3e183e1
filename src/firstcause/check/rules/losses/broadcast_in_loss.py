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
from firstcause.check.compared import compared_pairs
from firstcause.check.gathered import (
    is_gathered_column,
    is_kept_column,
    is_kept_reduction,
    is_reduced_row,
    is_squeezed_gather,
)
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "broadcast-in-loss"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if "gather" in code.called_names():
        yield from _of_gathered(code)
    # Where rows come from, and what makes a column of one: without both there is nothing to follow.
    sets = "TensorDataset" in code.called_names() or code.subclasses_of("torch.utils.data.Dataset")
    if "Linear" not in code.called_names() or not sets:
        return
    for module, node, pair in compared_pairs(code):
        for given, target in (pair, pair[::-1]):
            if is_column_of_model(code, module, given) and (
                is_row(code, module, target) or _squeezed_elsewhere(code, target)
            ):
                yield _told(module, node, given, target)
                break


def _of_gathered(code: Code) -> Iterator[Finding]:
    """Values gathered by action, one column, against what was reduced along the actions; and the other way round."""
    for module, node, pair in compared_pairs(code):
        for given, target in (pair, pair[::-1]):
            reduced = is_gathered_column(code, module, given) and is_reduced_row(code, module, target)
            if reduced or _is_kept_against_squeezed(code, module, given, target):
                yield _told(module, node, given, target)
                break


def _is_kept_against_squeezed(code: Code, module: Module, given: ast.expr, target: ast.expr) -> bool:
    if is_kept_column(code, module, given):
        return is_squeezed_gather(code, module, target)
    # Only the second of two axes tells that what was gathered has one axis alone.
    return is_kept_reduction(code, module, given) and is_squeezed_gather(code, module, target, axes=(1,))


def _told(module: Module, node: ast.AST, given: ast.expr, target: ast.expr) -> Finding:
    text = (
        f"{ast.unparse(given)} is (N, 1) and {ast.unparse(target)} is (N,): they broadcast to (N, N), and each "
        f"prediction is compared with every target; {ast.unparse(given)}.squeeze(-1) makes them alike"
    )
    return finding(SLUG, CATEGORY, module, node, text)


def _squeezed_elsewhere(code: Code, target: ast.expr) -> bool:
    """Whether the program itself squeezes such a column before it compares it with what has the target's name."""
    if not isinstance(target, ast.Name):
        return False
    for module, _, pair in compared_pairs(code):
        for one, against in (pair, pair[::-1]):
            if _is_named(against, target.id) and _is_squeezed_column(code, module, one):
                return True
    for module in code.modules:
        for node in module.nodes(ast.BinOp):
            sides = (node.left, node.right)
            if not isinstance(node.op, ast.Sub) or not any(_is_named(s, target.id) for s in sides):
                continue
            other = next((s for s in sides if not _is_named(s, target.id)), None)
            if other is not None and any(
                _is_squeezed_column(code, m, n) for m, n in _ways(code, module, other)
            ):
                return True
    return False


def _ways(code: Code, module: Module, node: ast.expr) -> Iterator[tuple[Module, ast.AST]]:
    yield module, node
    yield from ((o.module, o.node) for o in code.origins(module, node))


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_squeezed_column(code: Code, module: Module, node: ast.AST) -> bool:
    """``model(x).squeeze(-1)``, moved to another place or not, of a model whose last layer is one wide."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "squeeze":
            return is_column_of_model(code, module, node.func.value)
        if node.func.attr not in ("cpu", "to", "detach", "float", "numpy"):
            return False
        node = node.func.value
    return False


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
_SET = """
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Homes(Dataset):
    def __init__(self, table):
        self.x = torch.tensor(table[["area", "rooms"]].values).float()
        self.y = {column}

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], {item}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(2, 16)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.head(self.body(x)){end}

def main(device):
    net = Net().to(device)
    opt = torch.optim.Adam(net.parameters())
    for x, y in DataLoader(Homes(pd.read_csv("homes.csv")), batch_size=64, shuffle=True):
        x, y = x.to(device), y.to(device)
        guess = net(x)
        loss = {loss}{mark}
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
_COLUMN = 'torch.tensor(table["price"].values).float()'


def _set(
    column: str = _COLUMN,
    item: str = "self.y[i]",
    end: str = "",
    loss: str = "nn.functional.mse_loss(guess, y)",
    mark: str = "",
) -> Example:
    return Example(_SET.format(column=column, item=item, end=end, loss=loss, mark=mark))


_LIGHTNING = """
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, i):
        row = self.rows[i]
        return torch.tensor(row[:8]), {item}

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(x)

    def _error(self, batch):
        x, y = batch
        guess = self(x)
        return (guess - y).abs().mean(){mark}

    def training_step(self, batch, batch_idx):
        return self._error(batch)
"""
_VALUES = """
import torch
import torch.nn.functional as F

def td_loss(online, target, states, actions, rewards, followers, ends):
    chosen = online(states).gather(1, actions.unsqueeze(1)){shape}
    with torch.no_grad():
        best = target(followers).max(dim=1{keep}).values
        goal = rewards + 0.99 * (1.0 - ends) * best
    return F.smooth_l1_loss(chosen, goal){mark}
"""
_DOUBLE = """
import torch
import torch.nn.functional as F

def td_loss(online, target, batch, gamma):
    state, action, reward, following, terminal = batch
    value = online(state).gather(1, action)
    with torch.no_grad():
        best = online(following).argmax(dim=1, keepdim=True)
        goal = reward + gamma * (1.0 - terminal) * target(following).gather(1, best){end}
    return F.smooth_l1_loss(value{shape}, goal){mark}
"""
_NEXT = _DOUBLE.replace("gather(1, action)", "gather(1, action.unsqueeze(1))")
_TOKENS = """
import torch

def spread(logits, ids):
    tok = logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    mean = tok.mean({axis}, keepdim=True)
    return ((tok - mean) ** 2).mean()
"""
_SERIES = """
import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

HOURS = 24

class Windows(Dataset):
    def __init__(self, values):
        self.values = torch.tensor(values, dtype=torch.float32)

    def __getitem__(self, i):
        return self.values[i : i + HOURS].unsqueeze(-1), self.values[i + HOURS]

class Forecaster(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.LSTM(1, 16, batch_first=True)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(self.body(x)[0][:, -1])

    def training_step(self, batch, batch_idx):
        hours, following = batch
        return F.mse_loss(self(hours){shape}, following){mark}

def main():
    load = np.loadtxt("load.csv", delimiter=","{used})
    load = (load - load.mean()) / load.std()
    loader = DataLoader(Windows(load[:5000]), batch_size=32, shuffle=True)
    L.Trainer(max_epochs=3).fit(Forecaster(), loader)
"""
BAD = (
    Example(_SERIES.format(shape="", used=", usecols=1", mark="  # found")),
    Example(_VALUES.format(shape="", keep="", mark="  # found")),
    Example(_VALUES.format(shape=".squeeze(-1)", keep=", keepdim=True", mark="  # found")),
    Example(_DOUBLE.format(shape=".squeeze(1)", end="", mark="  # found")),
    Example(_NEXT.format(shape="", end=".squeeze(1)", mark="  # found")),
    Example(_NEXT.format(shape="", end="[:, 0]", mark="  # found")),
    Example(_NEXT.format(shape="", end=".flatten()", mark="  # found")),
    Example("""
import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 1)

    def forward(self, x):
        return self.head(x)

def load(arrays, part):
    x, y = torch.from_numpy(arrays[f"x_{part}"]), torch.from_numpy(arrays[f"y_{part}"])
    return DataLoader(TensorDataset(x, y), batch_size=10)

def error(net, loader):
    return sum((net(x).squeeze(-1) - y).abs().sum() for x, y in loader)

arrays = np.load("power.npz")
net = Net()
for x, y in load(arrays, "train"):
    loss = F.mse_loss(net(x), y)  # found
    loss.backward()
print(error(net, load(arrays, "val")))
"""),
    Example(_FRAME.format(target='table["price"].values', width=1, shape="", mark="  # found")),
    Example(_MODEL.format(end="", keep="", mark="  # found")),
    _set(mark="  # found"),
    _set(loss="((guess - y) ** 2).mean()", mark="  # found"),
    _set(column='[float(p) for p in table["price"]]', item="torch.tensor(self.y[i])", mark="  # found"),
    Example(_LIGHTNING.format(item="torch.tensor(float(row[8]))", mark="  # found")),
)
GOOD = (
    Example(_SERIES.format(shape=".squeeze(-1)", used=", usecols=1", mark="")),
    Example(_SERIES.format(shape="", used="", mark="")),
    Example(_VALUES.format(shape=".squeeze(1)", keep="", mark="")),
    Example(_VALUES.format(shape="", keep=", keepdim=True", mark="")),
    Example(_TOKENS.format(axis=-1)),
    Example(_TOKENS.format(axis=1)),
    Example(_DOUBLE.format(shape="", end="", mark="")),
    Example(_NEXT.format(shape=".squeeze(1)", end=".squeeze(1)", mark="")),
    Example(_NEXT.format(shape=".view(-1)", end=".squeeze(-1)", mark="")),
    Example(_DOUBLE.format(shape=".squeeze(1)", end=".squeeze(1)", mark="")),
    Example(_DOUBLE.format(shape="", end=".squeeze(1)", mark="")),
    Example(_NEXT.format(shape="", end="", mark="")),
    _set(end=".squeeze(-1)"),
    _set(item="self.y[i : i + 1]"),
    _set(column="torch.load('prices.pt')"),
    _set(column='torch.tensor(table[["price"]].values).float()'),
    _set(loss="((guess[:, 0] - y) ** 2).mean()"),
    Example(_LIGHTNING.format(item="torch.tensor([float(row[8])])", mark="")),
    Example(_LIGHTNING.format(item="row[8]", mark="")),
    Example(_FRAME.format(target='table[["price"]].values', width=1, shape="", mark="")),
    Example(_FRAME.format(target='table["price"].to_numpy()', width=1, shape=".squeeze(-1)", mark="")),
    Example(_FRAME.format(target='table["price"].values.reshape(-1, 1)', width=1, shape="", mark="")),
    Example(_FRAME.format(target='table["price"].values', width=3, shape="", mark="")),
    Example(_MODEL.format(end=".squeeze(1)", keep="", mark="")),
    Example(_MODEL.format(end="", keep=", keepdim=True", mark="")),
)
