"""An optimizer of torch is made and its gradients are cleared in a training loop, and nothing ever steps it.

Why: backward is computed and thrown away: no parameter changes, and the loss stands still.
Refuted by: a step anywhere, the optimizer given to anything else (a scaler, an engine, a function, a container), gradients
used by hand.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.steps import OPTIMIZERS, is_optimizer
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "optimizer-step-missing"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for made in code.calls(*(f"torch.optim.{name}" for name in sorted(OPTIMIZERS))):
        statement = made.module.statement(made.node)
        target = (
            statement.targets[0]
            if isinstance(statement, ast.Assign) and statement.value is made.node
            else None
        )
        if not is_optimizer(made.name) or not isinstance(target, ast.Name):
            continue
        uses = _uses(made, target.id)
        clears = [u for u in uses or () if u.attr == "zero_grad"]
        if uses is None or not clears or any(u.attr != "zero_grad" and u.attr not in READ for u in uses):
            continue
        loop = code.loop_around(made.module, clears[0])
        if loop is None or not any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in loop.nodes):
            continue
        if any(_moves_otherwise(n) for n in loop.nodes):
            continue
        text = f"{target.id} clears its gradients in this loop and steps nowhere: backward is computed and no parameter changes"
        yield finding(SLUG, CATEGORY, made.module, clears[0], text, related=(made.site,))


def _moves_otherwise(node: ast.AST) -> bool:
    """Gradients that are read by hand, or another optimizer's step; an environment's step takes what to do."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "step" and not node.args and not node.keywords
    return isinstance(node, ast.Attribute) and node.attr == "grad"


# What may be read of an optimizer without handing it on.
READ = frozenset({"param_groups", "state_dict", "load_state_dict", "defaults"})


def _uses(made: Call, name: str) -> list[ast.Attribute] | None:
    """The attributes that are read of a local name; None where the object itself goes anywhere."""
    module: Module = made.module
    function = module.function(made.node)
    found = []
    for node in module.nodes(ast.Name):
        if node.id != name or module.function(node) is not function or not isinstance(node.ctx, ast.Load):
            # A function inside, or another file, may step what a module's own name stands for.
            if node.id == name and function is None and isinstance(node.ctx, ast.Load):
                return None
            continue
        parent = module.parents.get(node)
        if not isinstance(parent, ast.Attribute):
            return None
        found.append(parent)
    return found


BAD = (
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.Adam(net.parameters())
    for x, y in loader:
        opt.zero_grad()  # found
        torch.nn.functional.mse_loss(net(x), y).backward()
"""),
    Example("""
import torch

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.ones(1, 2)).mean()
    optimizer.zero_grad()  # found
    loss.backward()
    print(optimizer.param_groups[0]["lr"], loss.item())
"""),
)
GOOD = (
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.Adam(net.parameters())
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""),
    Example("""
import torch

def fit(net, loader, learn):
    opt = torch.optim.Adam(net.parameters())
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        learn(opt)
"""),
    Example("""
import torch

def saliency(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=1.0)
    for x in loader:
        opt.zero_grad()
        x.requires_grad_()
        net(x).max().backward()
        print(x.grad.abs())
"""),
    Example("""
import torch

net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

def update():
    opt.step()

for _ in range(3):
    opt.zero_grad()
    net(torch.ones(1, 2)).mean().backward()
    update()
"""),
)
