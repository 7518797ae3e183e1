"""A count of right answers is divided by the number of batches.

Why: the quotient is right answers a batch, not a share: it grows with the batch size and exceeds 1.
Refuted by: a division by the number of samples, a share that was averaged a batch before.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.check.sequences import looped_over
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name

SLUG = "accuracy-over-batches"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in code.loops():
        over = looped_over(loop)
        counted = dict(_counts(loop)) if over is not None else {}
        if over is None or not counted or not _is_loader(code, loop, over):
            continue
        function = loop.module.function(loop.node)
        for node in ast.walk(function if function is not None else loop.module.tree):
            if (
                (
                    isinstance(node, ast.BinOp)
                    and isinstance(node.op, ast.Div)
                    and isinstance(node.left, ast.Name)
                )
                and node.left.id in counted
                and ast.unparse(node.right) == f"len({ast.unparse(over)})"
            ):
                text = (
                    f"{node.left.id} counts right answers and len({ast.unparse(over)}) batches, not samples"
                )
                yield finding(
                    SLUG,
                    CATEGORY,
                    loop.module,
                    node,
                    text,
                    related=(loop.module.site(counted[node.left.id]),),
                )


def _counts(loop: Loop) -> Iterator[tuple[str, ast.AST]]:
    """The names to which ``(a == b).sum()`` of each batch is added."""
    for node in loop.nodes:
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add)
            and isinstance(node.target, ast.Name)
        ):
            value: ast.expr = node.value
            while (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr in ("item", "float", "cpu", "double")
            ):
                value = value.func.value
            if (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr == "sum"
            ):
                inner = value.func.value
                given = inner if isinstance(inner, ast.Compare) else value.args[0] if value.args else None
                if isinstance(given, ast.Compare) and isinstance(given.ops[0], ast.Eq):
                    yield node.target.id, node


def _is_loader(code: Code, loop: Loop, over: ast.expr) -> bool:
    """A DataLoader, or a parameter of unknown kind that is looped over in batches (the loop unpacks it)."""
    made = maker(code, loop.module, over)
    if made is not None:
        size = made.constant("batch_size", 1)
        return made.name == "torch.utils.data.DataLoader" and not (size is not None and size.value == 1)
    return "loader" in last_name(over).lower()


_BODY = """
import torch
from torch.utils.data import DataLoader

@torch.no_grad()
def validate(net, data):
    net.eval()
    loader = DataLoader(data, batch_size=64)
    right = 0
    for x, y in loader:
        {add}
    return right / {by}{mark}
"""
_ADD = "right += (net(x).argmax(1) == y).sum().item()"
BAD = (
    Example(_BODY.format(add=_ADD, by="len(loader)", mark="  # found")),
    Example(
        _BODY.format(add="right += torch.sum(net(x).argmax(1) == y)", by="len(loader)", mark="  # found")
    ),
)
GOOD = (
    Example(_BODY.format(add=_ADD, by="len(data)", mark="")),
    Example(
        _BODY.format(add="right += (net(x).argmax(1) == y).float().mean().item()", by="len(loader)", mark="")
    ),
    Example(_BODY.format(add=_ADD, by="len(loader.dataset)", mark="")),
)
