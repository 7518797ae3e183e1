"""Each step waits for the device to read a number that is only shown or kept.

Why: .item() and .cpu() wait until all queued work is done: the device idles while Python prepares the next step.
Refuted by: a test around it (every n-th step), a loop of one's own that needs the number.
Holds for: torch on accelerators.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.devices import moves
from firstcause.check.events import training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "sync-every-step"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}

# One number a step is what everybody does; several are worth a word.
MANY = 3


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        waits = [n for n in loop.nodes if _waits(n) and not _guarded(loop.module.ancestors(n), loop.node)]
        if len(waits) >= MANY and (moves(code).models or moves(code).others):
            text = f"{len(waits)} calls in each step wait for the device (.item(), .cpu(), .tolist()); every n-th step is enough"
            yield finding(SLUG, CATEGORY, loop.module, waits[-1], text)


def _waits(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("item", "cpu", "tolist")
        and not node.args
    )


def _guarded(parents: list[ast.AST], loop: ast.AST) -> bool:
    return any(isinstance(p, ast.If) for p in parents[: parents.index(loop)])


_LOOP = """
import torch

def fit(net, loader):
    net.cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    total = right = norm = 0.0
    for step, (x, y) in enumerate(loader):
        x, y = x.cuda(), y.cuda()
        opt.zero_grad()
        out = net(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        opt.step()
{shown}
"""
_THREE = (
    "        total += loss.item()\n        norm += out.norm().item()\n"
    "        right += (out.argmax(1) == y).sum().item()"
)
BAD = (
    Example(
        _LOOP.format(shown=_THREE.replace("norm().item()", "norm().item()")).replace(
            "total += loss.item()", "total += loss.item()  # found"
        )
    ),
    Example(
        _LOOP.format(shown=_THREE.replace("out.norm().item()", "sum(out.norm(dim=0).tolist())")).replace(
            "total += loss.item()", "total += loss.item()  # found"
        )
    ),
)
GOOD = (
    Example(_LOOP.format(shown="        total += loss.item()")),
    Example(_LOOP.format(shown="        if step % 50 == 0:\n" + _THREE.replace("        ", "            "))),
    Example(_LOOP.format(shown=_THREE).replace("net.cuda()", "net.train()").replace(".cuda()", "")),
)
