"""A layer is replaced after the optimizer was given the model's parameters.

Why: the optimizer keeps the old layer's parameters: the new one gets gradients and is never updated.
Refuted by: add_param_group afterwards, an optimizer made again, a replacement that comes before.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.steps import is_optimizer
from firstcause.schema.finding import Category, Finding

SLUG = "optimizer-before-params-replaced"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if code.methods("add_param_group"):
        return
    made = [
        c
        for last in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam")
        for c in code.calls(f"torch.optim.{last}")
    ]
    for call in made:
        if not is_optimizer(call.name):
            continue
        for name in _models(call):
            for node in _replaced_after(code, call, name):
                if _made_again(code, call, node):
                    continue
                text = (
                    f"{ast.unparse(node.targets[0])} is replaced after the optimizer took {name}.parameters(): it still holds "
                    "the old layer's, and the new one is never updated"
                )
                yield finding(SLUG, CATEGORY, call.module, node, text, related=(call.site,))


def _models(call: Call) -> set[str]:
    """The names whose ``parameters()`` the optimizer is given."""
    return {
        ast.unparse(n.func.value)
        for a in call.node.args[:1]
        for n in ast.walk(a)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("parameters", "named_parameters")
    }


def _replaced_after(code: Code, call: Call, name: str) -> Iterator[ast.Assign]:
    """``name.layer = Layer(…)`` later in the same block of statements."""
    statement = call.module.statement(call.node)
    parent = call.module.parents.get(statement) if statement is not None else None
    block = next(
        (
            b
            for b in (getattr(parent, f, None) for f in ("body", "orelse"))
            if isinstance(b, list) and statement in b
        ),
        [],
    )
    later = block[block.index(statement) + 1 :] if statement in block else []
    for following in later:
        for node in ast.walk(following):
            if isinstance(node, (ast.For, ast.While)):
                break
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            target = node.targets[0]
            of_model = isinstance(target, ast.Attribute) and (ast.unparse(target) + ".").startswith(
                name + "."
            )
            if of_model and _is_layer(code, call, node.value):
                yield node


def _is_layer(code: Code, call: Call, value: ast.Call) -> bool:
    return any(
        n.startswith("torch.nn.") and n.rpartition(".")[2][:1].isupper()
        for n in code.made_by(call.module, value)
    )


def _made_again(code: Code, call: Call, node: ast.AST) -> bool:
    """Another optimizer is made further down in the same function."""
    function = call.module.function(call.node)
    line = getattr(node, "lineno", 0)
    return any(
        is_optimizer(c.name)
        and c.module is call.module
        and c.module.function(c.node) is function
        and c.node.lineno > line
        for last in ("SGD", "Adam", "AdamW", "RMSprop")
        for c in code.calls(f"torch.optim.{last}")
    )


BAD = (
    Example("""
import torch
from torch import nn

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head = nn.Linear(8, 10)  # found
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
"""),
    Example("""
import torch
from torch import nn
from torchvision.models import resnet50

def build():
    net = resnet50()
    optimizer = torch.optim.AdamW(net.fc.parameters(), lr=1e-3)
    net.fc = nn.Linear(2048, 37)  # found
    return net, optimizer
"""),
    Example("""
import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model.fc = nn.Sequential(nn.Dropout(0.2), nn.Linear(512, 5))  # found
"""),
)
GOOD = (
    Example("""
import torch
from torch import nn
from torchvision.models import resnet18

model = resnet18()
model.fc = nn.Linear(512, 5)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
"""),
    Example("""
import torch
from torch import nn

def fit(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head = nn.Linear(8, 10)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    return opt
"""),
    Example("""
import torch
from torch import nn

def fit(net, other):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    other.head = nn.Linear(8, 10)
    net.name = str(3)
"""),
)
