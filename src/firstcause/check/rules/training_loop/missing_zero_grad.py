"""A loop steps an optimizer and never clears its gradients.

Why: each backward adds to the gradients of all steps before, so the update grows in a direction that is long gone.
Refuted by: gradients cleared or shrunk anywhere that the loop reaches, ``set_to_none`` by hand, an optimizer made in the loop,
gradients taken by torch.autograd.grad, a library that clears them itself.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.rule import Example
from firstcause.check.steps import optimizer_steps, reaches
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import targets_of

SLUG = "missing-zero-grad"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for step in optimizer_steps(code):
        loop = step.loop
        if (
            loop is None
            or not reaches(code, loop, _is_backward)
            or reaches(code, _outermost(code, step), _clears)
            or _is_made_anew(code, loop, step)
        ):
            continue
        where = step.module.segment(step.receiver) if step.receiver is not None else "the optimizer"
        text = f"{where} steps in this loop and nothing clears its gradients: each step adds to those of all steps before"
        yield finding(SLUG, CATEGORY, step.module, step.node, text)


def _is_made_anew(code: Code, loop: Loop, step: Call) -> bool:
    """An optimizer that the loop itself makes, with what it updates: there are no gradients of steps before."""
    made = code.origins(step.module, step.receiver) if step.receiver is not None else []
    return any(loop.holds(o.node) for o in made)


def _outermost(code: Code, step: Call) -> Loop:
    found = step.loop
    assert found is not None
    while True:
        outer = code.loop_around(found.module, found.node)
        if outer is None:
            return found
        found = outer


def _is_backward(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and "backward" in node.func.attr
    )


def _clears(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        # ``p.grad.mul_(0.9)`` is momentum by hand.
        of_gradient = isinstance(node.func.value, ast.Attribute) and node.func.value.attr == "grad"
        shrinks = of_gradient and node.func.attr in ("mul_", "div_", "copy_", "fill_", "lerp_")
        return shrinks or node.func.attr in ("zero_grad", "zero_", "zero_grad_buffer")
    return any(isinstance(t, ast.Attribute) and t.attr == "grad" for t in targets_of(node))


BAD = (
    Example(
        """
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()  # found
""",
        fixed="""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    optimizer.step()  # found
    optimizer.zero_grad()
""",
    ),
    Example("""
import torch

def fit(net, loader, epochs):
    opt = torch.optim.AdamW(net.parameters())
    for _ in range(epochs):
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()  # found
"""),
)
GOOD = (
    Example("""
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def decay(parameters):
    for p in parameters:
        if p.grad is not None:
            p.grad.mul_(0.9)

for step in range(100):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    decay(model.parameters())
    loss.backward()
    optimizer.step()
"""),
    Example("""
import torch

def edit(net, frames):
    for frame in frames:
        x = frame.detach().clone().requires_grad_()
        opt = torch.optim.SGD([x], lr=0.1)
        net(x).pow(2).mean().backward()
        opt.step()
"""),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.AdamW(net.parameters())
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(net(x), y) / 4
        loss.backward()
        if i % 4 == 3:
            opt.step()
            opt.zero_grad()
"""),
    Example("""
import torch

def update(net, opt, x, y):
    net.zero_grad()
    torch.nn.functional.mse_loss(net(x), y).backward()
    opt.step()

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        update(net, opt, x, y)
"""),
    Example("""
import torch

w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(10):
    (w - 1).pow(2).sum().backward()
    opt.step()
    for p in [w]:
        p.grad = None
"""),
)
