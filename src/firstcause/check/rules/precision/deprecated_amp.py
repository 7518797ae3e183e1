"""Autocast or GradScaler by their deprecated names.

Why: torch.cuda.amp has been an alias with a warning since torch 2.4, and fixes the device to CUDA.
Refuted by: a torch older than 2.4.
Holds for: torch since 2.4.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "deprecated-amp"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {"torch": ">=2.4"}

NAMES = {
    "torch.cuda.amp.autocast": 'torch.amp.autocast("cuda")',
    "torch.cuda.amp.GradScaler": 'torch.amp.GradScaler("cuda")',
    "torch.cpu.amp.autocast": 'torch.amp.autocast("cpu")',
    "torch.cpu.amp.GradScaler": 'torch.amp.GradScaler("cpu")',
}


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        imported = [
            n
            for n in module.nodes(ast.ImportFrom)
            if n.module in ("torch.cuda.amp", "torch.cpu.amp") and not n.level
        ]
        for node in imported:
            names = [a.name for a in node.names if f"{node.module}.{a.name}" in NAMES]
            if names:
                first = NAMES[f"{node.module}.{names[0]}"]
                text = f"{node.module}.{names[0]} is a deprecated alias since torch 2.4; {first} is its name"
                yield finding(SLUG, CATEGORY, module, node, text)
    for name, current in NAMES.items():
        for call in code.calls(name):
            if isinstance(call.node.func, ast.Attribute):
                text = f"{name} is a deprecated alias since torch 2.4; {current} is its name"
                yield finding(SLUG, CATEGORY, call.module, call.node, text)


BAD = (
    Example("""
import torch
from torch.cuda.amp import GradScaler, autocast  # found

scaler = GradScaler()
"""),
    Example(
        """
import torch

scaler = torch.cuda.amp.GradScaler()  # found
""",
        fixed="""
import torch

scaler = torch.amp.GradScaler("cuda")  # found
""",
    ),
)
GOOD = (
    Example("""
import torch

scaler = torch.amp.GradScaler("cuda")
"""),
    Example("""
from torch.amp import autocast

with autocast("cuda"):
    pass
"""),
    Example("""
from apex.amp import autocast

with autocast():
    pass
"""),
)
