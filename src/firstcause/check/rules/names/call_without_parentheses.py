"""A method that has to be called stands as a statement without its parentheses.

Why: the line does nothing: no gradient is cleared, no step is taken, no mode is changed, and no error is raised.
Refuted by: a call, a use of the value, a last line of a notebook's cell.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "call-without-parentheses"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Methods whose only use is their effect.
METHODS = frozenset(
    {
        "zero_grad", "backward", "step", "eval", "train", "unscale_", "init_process_group", "destroy_process_group",
        "barrier", "wait_for_everyone", "save_pretrained", "gradient_checkpointing_enable", "requires_grad_", "empty_cache",
    }
)  # fmt: skip


def find(code: Code) -> Iterator[Finding]:
    if not code.imports("torch") and not code.imports("transformers"):
        return
    for module in code.modules:
        for statement in module.nodes(ast.Expr):
            node = statement.value
            # In a notebook the last line of a cell shows what a name is.
            if (
                not isinstance(node, ast.Attribute)
                or node.attr not in METHODS
                or module.path.endswith(".ipynb")
            ):
                continue
            text = f"{module.segment(node)} is named here and not called: the line does nothing; write {node.attr}()"
            yield finding(SLUG, CATEGORY, module, node, text)


BAD = (
    Example("""
import torch

def fit(net, opt, loader):
    for x in loader:
        opt.zero_grad  # found
        net(x).mean().backward()
        opt.step()
"""),
    Example("""
import torch

def evaluate(net, x):
    net.eval  # found
    with torch.no_grad():
        return net(x)
"""),
)
GOOD = (
    Example("""
import torch

def fit(net, opt, loader):
    for x in loader:
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
"""),
    Example("""
import torch

def bound(opt):
    step = opt.step
    return step
"""),
    Example("""
import torch

class Task:
    def show(self):
        self.loss
        self.backward_hook
"""),
)
