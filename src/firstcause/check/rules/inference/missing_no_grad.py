"""A model generates or is evaluated with gradients switched on.

Why: every forward builds a graph that nobody walks: it costs memory and time, and memory grows where results are kept.
Refuted by: no_grad or inference_mode around it or on its function, generate() (which switches them off itself), a backward.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.evaluation import evaluation_loops
from firstcause.check.generation import token_loops
from firstcause.check.graphs import quiet
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "missing-no-grad"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if _off_for_all(code):
        return
    places: list[tuple[Loop, ast.AST]] = [(t.loop, t.forward) for t in token_loops(code)]
    places += [(e.loop, e.forward) for e in evaluation_loops(code)]
    for loop, forward in places:
        if _quiet_on_the_way(code, loop.module, forward):
            continue
        text = "the model runs here with gradients on and nothing is backpropagated: inference_mode() saves the graph"
        yield finding(SLUG, CATEGORY, loop.module, loop.node, text)


def _off_for_all(code: Code) -> bool:
    """Gradients switched off for the whole program."""
    switches = [
        c
        for c in code.calls("torch.set_grad_enabled", "torch.inference_mode")
        if c.code.under(c.module, c.node) is None
    ]
    return any(isinstance(c.module.parents.get(c.node), ast.Expr) for c in switches)


def _quiet_on_the_way(code: Code, module: Module, node: ast.AST) -> bool:
    """Here, or around every call of the function that this stands in."""
    if quiet(code, module, node):
        return True
    function = module.function(node)
    name = getattr(function, "name", "")
    calls = code.own_calls(name) if name else []
    return bool(calls) and all(quiet(code, c.module, c.node) for c in calls)


BAD = (
    Example("""
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2").eval()
ids = torch.zeros(1, 4).long()
for _ in range(20):  # found
    token = model(ids).logits[:, -1].argmax(-1, keepdim=True)
    ids = torch.cat([ids, token], dim=1)
"""),
    Example("""
import torch
from torch import nn

def validate(model, loader):
    model.eval()
    right = 0
    for x, y in loader:  # found
        right += (model(x).argmax(1) == y).sum().item()
    return right

net = nn.Linear(4, 2)
validate(net, [])
"""),
)
GOOD = (
    Example("""
import torch

@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
"""),
    Example("""
import torch
from torch import nn

def validate(model, loader):
    model.eval()
    right = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum().item()
    return right

with torch.inference_mode():
    validate(nn.Linear(4, 2), [])
"""),
    Example("""
import torch

def attack(model, loader):
    model.eval()
    for x, y in loader:
        x.requires_grad_(True)
        torch.nn.functional.cross_entropy(model(x), y).backward()
"""),
)
