"""backward is called where gradient mode is off.

Why: the forward builds no graph there, so backward raises, or nothing is learned where the loss has a graph of its own.
Refuted by: enable_grad or set_grad_enabled(True) inside, a forward that ran outside.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import events, training_loops
from firstcause.check.graphs import quiet
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "training-under-no-grad"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        for event in events(code, loop):
            call = event.call
            if event.kind != "backward" or not quiet(code, call.module, call.node):
                continue
            if code.calls("torch.enable_grad", "torch.set_grad_enabled") or not _forward_inside(
                code, call.module, call.node
            ):
                continue
            function = call.module.function(call.node)
            decorated = [
                d
                for d in getattr(function, "decorator_list", [])
                if "grad" in ast.unparse(d) or "inference" in ast.unparse(d)
            ]
            place = decorated[0] if decorated else call.node
            text = "backward is called with gradient mode off: the forward here builds no graph, so there is nothing to walk"
            yield finding(SLUG, CATEGORY, call.module, place, text, related=(call.site,))


def _forward_inside(code: Code, module: Module, node: ast.Call) -> bool:
    """Whether what is walked was computed under the same switch."""
    if not isinstance(node.func, ast.Attribute):
        return True
    origins = code.origins(module, node.func.value)
    return bool(origins) and all(quiet(code, o.module, o.node) for o in origins)


BAD = (
    Example("""
import torch

@torch.no_grad()  # found
def run(net, loader, opt):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""),
    Example("""
import torch

def run(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    with torch.no_grad():
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()  # found
            opt.step()
"""),
)
GOOD = (
    Example("""
import torch

def run(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        with torch.no_grad():
            target = net(y)
        loss = torch.nn.functional.mse_loss(net(x), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""),
    Example("""
import torch

@torch.no_grad()
def run(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        with torch.enable_grad():
            loss = torch.nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""),
    Example("""
import torch

def run(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        net(x).mean().backward()
        with torch.no_grad():
            opt.step()
"""),
)
