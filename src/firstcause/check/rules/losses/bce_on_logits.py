"""Binary cross entropy of probabilities is given a layer's raw output.

Why: BCELoss takes values within 0 and 1: outside it raises, on CUDA as a device-side assertion.
Refuted by: a sigmoid or softmax on the way, the loss that takes logits, an output that the code does not show.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.activations import activations
from firstcause.check.code import Code, finding
from firstcause.check.losses import loss_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "bce-on-logits"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in loss_calls(code, ("binary_cross_entropy",), ("BCELoss",)):
        value = call.argument("input", 0)
        found = activations(code, call.module, value.node) if value is not None else set()
        if found and found <= {"linear", "tanh", "log-softmax", "product"}:
            last = found.pop()
            given = "a product of raw values" if last == "product" else f"the output of a {last} layer"
            text = f"binary cross entropy takes probabilities and gets {given}, which leaves 0 to 1"
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


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
        loss = crit(net(x).squeeze(1), y.float()){mark}
"""
_GRAPH = """
import torch
from torch import nn
from torch_geometric.nn import SAGEConv

class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.convs = nn.ModuleList(SAGEConv(a, b) for a, b in zip(widths[:-1], widths[1:]))

    def forward(self, x, edges):
        for conv in self.convs[:-1]:
            x = torch.relu(conv(x, edges))
        return {output}

def fit(loader):
    net = Net([4, 8, 2])
    crit = nn.BCELoss()
    for graph in loader:
        loss = crit(net(graph.x, graph.edges), graph.y){mark}
"""
_SEGMENTS = """
import torch
from torch import nn
from torchvision.models.segmentation import deeplabv3_resnet50
from torchvision.models.segmentation.deeplabv3 import DeepLabHead

def build():
    model = deeplabv3_resnet50(weights="DEFAULT")
    model.classifier = {head}
    return model

def fit(loader):
    model, crit = build(), nn.BCELoss()
    for x, y in loader:
        loss = crit(model(x)["out"], y){mark}
"""
_TILES = """
import lightning as L
import segmentation_models_pytorch as smp
import torch.nn.functional as F

class Roofs(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = smp.{net}
        {more}

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        tiles, masks = batch
        scores = self(tiles).float()
        return F.binary_cross_entropy(scores, masks){mark}
"""


_TOWERS = """
import torch
import torch.nn.functional as F
from torch import nn

class Tower(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.table = nn.Embedding(count, dim)
        {more}
        self.layers = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim){end})

    def forward(self, ids):
        return {given}

class Towers(nn.Module):
    def __init__(self, users, books):
        super().__init__()
        self.user, self.book = Tower(users, 16), Tower(books, 16)

    def forward(self, user, book):
        return {score}

def fit(loader):
    model = Towers(100, 200)
    for user, book, loaned in loader:
        score = model(user, book)
        loss = F.binary_cross_entropy(score, loaned){mark}
        loss.backward()
"""


def _towers(
    score: str,
    mark: str = "",
    end: str = "",
    given: str = "self.layers(self.table(ids))",
    more: str = "nn.init.normal_(self.table.weight, std=0.1)",
) -> Example:
    return Example(_TOWERS.format(score=score, mark=mark, end=end, given=given, more=more))


def _tiles(net: str, mark: str = "", more: str = "self.save_hyperparameters()") -> Example:
    return Example(_TILES.format(net=net, mark=mark, more=more))


BAD = (
    _towers("(self.user(user) * self.book(book)).sum(dim=-1)", "  # found"),
    _towers("torch.sum(self.user(user) * self.book(book), dim=1)", "  # found", given="self.table(ids)"),
    _tiles('Unet(encoder_name="resnet34", classes=1)', "  # found"),
    _tiles('FPN("resnet18", classes=1, activation=None)', "  # found"),
    Example(_SEGMENTS.format(head="DeepLabHead(2048, 1)", mark="  # found")),
    Example(_GRAPH.format(output="self.convs[-1](x, edges)", mark="  # found")),
    Example(_NET.format(output="self.fc(x)", cls="BCELoss", mark="  # found")),
    Example("""
import torch
import torch.nn.functional as F

head = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
loss = F.binary_cross_entropy(head(torch.zeros(2, 4)), torch.zeros(2, 1))  # found
"""),
    Example("""
import torch
from torch import nn

def step(net, goal, x, y):
    return goal(net(x), y)  # found

def fit(loader):
    net = nn.Linear(4, 1)
    for x, y in loader:
        step(net, nn.BCELoss(), x, y).backward()
"""),
)
GOOD = (
    _tiles('from_pretrained("checkpoints/roofs")'),
    _tiles('Unet("resnet34", classes=1)', more="self.net.segmentation_head.append(torch.nn.Sigmoid())"),
    _towers(
        "(self.user(user) * self.book(book)).sum(dim=-1)",
        given="self.table(ids)",
        more="self.table.weight.data = torch.rand(count, dim).softmax(-1)",
    ),
    Example("""
import torch
import torch.nn.functional as F

def fit(loader):
    model = torch.nn.Linear(20, 1)
    for x, y in loader:
        prob = model(x)
        prob.sigmoid_()
        F.binary_cross_entropy(prob, y).backward()
"""),
    _towers("torch.sigmoid((self.user(user) * self.book(book)).sum(dim=-1))"),
    _towers("(self.user(user) * self.book(book)).sum(dim=-1)", end=", nn.Softmax(dim=-1)"),
    _towers("(self.user(user) * self.book(book)).sum(dim=-1)", end=", nn.ReLU()"),
    _tiles('Unet(encoder_name="resnet34", classes=1, activation="sigmoid")'),
    _tiles('Unet(encoder_name="resnet34", **settings)'),
    _tiles('Unet(encoder_name="resnet34", classes=1)', more="self.net.segmentation_head = head()"),
    Example(_SEGMENTS.format(head="nn.Sequential(DeepLabHead(2048, 1), nn.Sigmoid())", mark="")),
    Example(_GRAPH.format(output="torch.sigmoid(self.convs[-1](x, edges))", mark="")),
    Example(_NET.format(output="torch.sigmoid(self.fc(x))", cls="BCELoss", mark="")),
    Example(_NET.format(output="self.fc(x)", cls="BCEWithLogitsLoss", mark="")),
    Example("""
import torch
import torch.nn.functional as F

head = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Sigmoid())
loss = F.binary_cross_entropy(head(torch.zeros(2, 4)), torch.zeros(2, 1))
"""),
)
