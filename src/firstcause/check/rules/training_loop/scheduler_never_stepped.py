"""A schedule of learning rates is made and never stepped.

Why: the learning rate stays what it was at the start; with a warm-up that is nearly nothing.
Refuted by: a step of it, the schedule given to anything (a trainer, prepare, a function, a list), returned or stored.
Holds for: torch, transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "scheduler-never-stepped"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

OF_TRANSFORMERS = (
    "transformers.get_scheduler", "transformers.get_linear_schedule_with_warmup",
    "transformers.get_cosine_schedule_with_warmup", "transformers.get_constant_schedule_with_warmup",
)  # fmt: skip


def find(code: Code) -> Iterator[Finding]:
    if "backward" not in code.called_names():
        return
    made = [*code.calls_within("torch.optim.lr_scheduler."), *code.calls(*OF_TRANSFORMERS)]
    for call in made:
        statement = call.module.statement(call.node)
        target = (
            statement.targets[0]
            if isinstance(statement, ast.Assign) and statement.value is call.node
            else None
        )
        if not isinstance(target, ast.Name) or not _is_idle(call.module, target):
            continue
        text = f"{target.id} is made and never stepped: the learning rate stays what it is at the start"
        yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _is_idle(module: Module, target: ast.Name) -> bool:
    """Whether nothing but its last rate is read of a local name, in a function or file that runs the backward itself."""
    function = module.function(target)
    if function is None and any(target.id in (getattr(n, "names", ())) for n in module.nodes(ast.Global)):
        return False
    inside = [n for n in module.nodes(ast.Attribute) if n.attr == "backward"]
    if not any(module.function(n) is function for n in inside):
        return False
    for node in module.nodes(ast.Name):
        if node.id != target.id or not isinstance(node.ctx, ast.Load):
            continue
        parent = module.parents.get(node)
        if not isinstance(parent, ast.Attribute) or parent.attr not in (
            "get_last_lr",
            "get_lr",
            "state_dict",
        ):
            return False
    return True


BAD = (
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.Adam(net.parameters())
    sched = torch.optim.lr_scheduler.StepLR(opt, 10)  # found
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""),
    Example("""
import torch
from transformers import get_linear_schedule_with_warmup

def fit(net, loader):
    opt = torch.optim.AdamW(net.parameters())
    warm = get_linear_schedule_with_warmup(opt, 10, 100)  # found
    for x in loader:
        opt.zero_grad()
        net(x).loss.backward()
        opt.step()
        print(warm.get_last_lr())
"""),
)
_TAIL = """
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""
GOOD = (
    Example(
        "import torch\n\ndef fit(net, loader):\n    opt = torch.optim.Adam(net.parameters())\n"
        "    sched = torch.optim.lr_scheduler.StepLR(opt, 10)" + _TAIL + "        sched.step()\n"
    ),
    Example(
        "import torch\n\ndef fit(net, loader, engine):\n    opt = torch.optim.Adam(net.parameters())\n"
        "    sched = torch.optim.lr_scheduler.StepLR(opt, 10)\n    engine.attach(sched)" + _TAIL
    ),
    Example("""
import torch

def make(net):
    opt = torch.optim.Adam(net.parameters())
    sched = torch.optim.lr_scheduler.StepLR(opt, 10)
    return opt, sched

def fit(net, loader):
    opt, sched = make(net)
    for x in loader:
        net(x).mean().backward()
        opt.step()
        opt.zero_grad()
        sched.step()
"""),
)
