"""Each step takes the first batch of a loader that is started anew.

Why: next(iter(loader)) starts all workers and shuffles again for one batch: slow, and some samples are never seen.
Refuted by: the iterator made once outside of the loop, a loop of one round, a look at one batch.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import training_loops
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "loader-restarted-each-step"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        for node in loop.nodes:
            inner = _first_of(node)
            if inner is None:
                continue
            made = maker(code, loop.module, inner)
            if made is not None and made.name == "torch.utils.data.DataLoader":
                text = "next(iter(loader)) restarts the loader for one batch in each step; make the iterator once"
                yield finding(SLUG, CATEGORY, loop.module, node, text, related=(made.site,))


def _first_of(node: ast.AST) -> ast.expr | None:
    """The loader in ``next(iter(loader))``."""
    if not (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "next"
        and node.args
    ):
        return None
    inner = node.args[0]
    if (
        isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Name)
        and inner.func.id == "iter"
        and inner.args
    ):
        return inner.args[0]
    return None


_LOOP = """
import torch
from torch.utils.data import DataLoader

def fit(net, data, steps):
    loader = DataLoader(data, batch_size=8, shuffle=True)
    batches = iter(loader)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(steps):
        x, y = next({given}){mark}
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""
BAD = (
    Example(_LOOP.format(given="iter(loader)", mark="  # found")),
    Example(
        _LOOP.format(given="iter(loader)", mark="  # found").replace(
            "for step in range(steps)", "while steps"
        )
    ),
)
GOOD = (
    Example(_LOOP.format(given="batches", mark="")),
    Example("""
from torch.utils.data import DataLoader

def look(data):
    return next(iter(DataLoader(data, batch_size=2)))
"""),
    Example(_LOOP.format(given="iter(loader.dataset)", mark="")),
)
