"""The best weights are kept by a name for weights that go on changing.

Why: state_dict() gives the parameters themselves: what is loaded as the best at the end are the last ones.
Refuted by: deepcopy, a clone of each tensor, a save to disk.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.rule import Example
from firstcause.check.steps import reached
from firstcause.schema.finding import Category, Finding

SLUG = "best-weights-by-reference"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in code.loops():
        for node in loop.nodes:
            if (
                not isinstance(node, ast.Assign)
                or not _is_state(node.value)
                or code.loop_around(loop.module, node) is None
            ):
                continue
            inner = code.loop_around(loop.module, node)
            if inner is None or inner.node is not loop.node or not _guarded(loop, node):
                continue
            target = node.targets[0]
            name = ast.unparse(target)
            if (
                isinstance(target, (ast.Name, ast.Attribute))
                and _loaded_later(loop, name)
                and _trains(code, loop)
            ):
                text = f"{name} is the model's own state_dict and changes at each step; keep a copy.deepcopy of it"
                yield finding(SLUG, CATEGORY, loop.module, node, text)


def _is_state(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "state_dict"
        and not node.args
    )


def _guarded(loop: Loop, node: ast.AST) -> bool:
    """Kept only in some rounds: when it is the best so far."""
    parents = loop.module.ancestors(node)
    return any(isinstance(p, ast.If) for p in parents[: parents.index(loop.node)])


def _loaded_later(loop: Loop, name: str) -> bool:
    function = loop.module.function(loop.node)
    end = loop.node.end_lineno or 0
    for node in ast.walk(function if function is not None else loop.module.tree):
        if (
            (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "load_state_dict"
            )
            and node.lineno > end
            and node.args
            and ast.unparse(node.args[0]) == name
        ):
            return True
    return False


def _trains(code: Code, loop: Loop) -> bool:
    return any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("step", "backward", "train")
        for _, n in reached(code, loop)
    )


_BODY = """
import copy
import torch

def fit(net, loader, score):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    best, kept = 0.0, None
    for epoch in range(5):
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
        if score(net) > best:
            best = score(net)
            kept = {state}{mark}
    {after}
    return net
"""
BAD = (
    Example(_BODY.format(state="net.state_dict()", mark="  # found", after="net.load_state_dict(kept)")),
    Example(
        _BODY.format(
            state="net.state_dict()", mark="  # found", after="if kept is not None: net.load_state_dict(kept)"
        )
    ),
)
GOOD = (
    Example(
        _BODY.format(state="copy.deepcopy(net.state_dict())", mark="", after="net.load_state_dict(kept)")
    ),
    Example(
        _BODY.format(
            state="{k: v.clone() for k, v in net.state_dict().items()}",
            mark="",
            after="net.load_state_dict(kept)",
        )
    ),
    Example(_BODY.format(state="net.state_dict()", mark="", after="torch.save(kept, 'last.pt')")),
)
