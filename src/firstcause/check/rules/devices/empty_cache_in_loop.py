"""The allocator's cache is emptied in each step.

Why: the next step asks the driver for the same memory again: each call waits for the device, and training gets slower.
Refuted by: a call once an epoch, or after an out-of-memory error.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import training_loops
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "empty-cache-in-loop"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

NAMES = ("torch.cuda.empty_cache", "torch.cuda.memory.empty_cache")


def find(code: Code) -> Iterator[Finding]:
    if "empty_cache" not in code.called_names():
        return
    for loop in training_loops(code):
        for node in loop.nodes:
            if not isinstance(node, ast.Call) or call_of(code, loop.module, node).name not in NAMES:
                continue
            between = loop.module.ancestors(node)
            between = between[: between.index(loop.node)]
            if not any(isinstance(p, (ast.If, ast.ExceptHandler)) for p in between):
                text = "empty_cache in each step gives memory back that the next step asks for again"
                yield finding(SLUG, CATEGORY, loop.module, node, text)


_LOOP = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for step, (x, y) in enumerate(loader):
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
            {inside}
        {after}
"""
BAD = (
    Example(_LOOP.format(inside="torch.cuda.empty_cache()  # found", after="pass")),
    Example(
        _LOOP.format(inside="cuda.empty_cache()  # found", after="pass").replace(
            "import torch\n", "import torch\nfrom torch import cuda\n"
        )
    ),
)
GOOD = (
    Example(_LOOP.format(inside="pass", after="torch.cuda.empty_cache()")),
    Example(_LOOP.format(inside="if step % 500 == 0: torch.cuda.empty_cache()", after="pass")),
    Example("import torch\n\nfor name in ['a', 'b']:\n    print(name)\n    torch.cuda.empty_cache()\n"),
)
