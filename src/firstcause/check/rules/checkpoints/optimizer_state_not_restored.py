"""A run is resumed with its weights and its epoch, and the optimizer starts empty.

Why: the moments of Adam and the momentum are gone: the loss jumps after each resume, and schedules start anew.
Refuted by: the optimizer's state saved and loaded, plain SGD without momentum.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.steps import OPTIMIZERS
from firstcause.schema.finding import Category, Finding

SLUG = "optimizer-state-not-restored"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

COUNTERS = frozenset({"epoch", "step", "global_step", "start_epoch", "iteration", "iter"})


def find(code: Code) -> Iterator[Finding]:
    saves = code.calls("torch.save")
    stateful = code.calls(*(f"torch.optim.{name}" for name in OPTIMIZERS)) if saves else []
    if not stateful or all(c.name.endswith(".SGD") and not c.may_have("momentum") for c in stateful):
        return
    for save in saves:
        value = save.argument("obj", 0)
        for origin in code.origins(value.module, value.node) if value is not None else ():
            keys = _states(origin.node) if isinstance(origin.node, ast.Dict) else {}
            # A counter beside the weights says that the run is to go on from there.
            if keys and keys.keys() & COUNTERS and sum(keys.values()) == 1 and _read_back(code, keys):
                text = "the checkpoint holds weights and epoch, not the optimizer's state: a resumed run starts it empty"
                yield finding(SLUG, CATEGORY, origin.module, origin.node, text, related=(save.site,))


def _states(node: ast.Dict) -> dict[str, bool]:
    """The keys of a checkpoint, and whether each holds a state_dict."""
    found = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant):
            return {}
        found[str(key.value)] = (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "state_dict"
        )
    return found


def _read_back(code: Code, keys: dict[str, bool]) -> bool:
    """Whether the program goes on from the counter of a checkpoint, and does not only show it."""
    counters = keys.keys() & COUNTERS
    if "load_state_dict" not in code.called_names():
        return False
    return any(
        isinstance(n.ctx, ast.Load)
        and isinstance(n.slice, ast.Constant)
        and n.slice.value in counters
        and isinstance(m.statement(n), (ast.Assign, ast.AugAssign, ast.For, ast.Return))
        for m in code.modules
        for n in m.nodes(ast.Subscript)
    )


_BODY = """
import torch

def fit(net, loader, path=None):
    opt = torch.optim.{opt}(net.parameters(), lr=0.1)
    start = 0
    if path:
        state = torch.load(path)
        net.load_state_dict(state["model"])
        start = state["epoch"]
    for epoch in range(start, 9):
        torch.save({keys}, "last.pt"){mark}
"""
_ALL = '{"model": net.state_dict(), "epoch": epoch, "opt": opt.state_dict()}'
_PART = '{"model": net.state_dict(), "epoch": epoch}'
BAD = (
    Example(_BODY.format(opt="AdamW", keys=_PART, mark="  # found")),
    Example(_BODY.format(opt="Adam", keys=_PART.replace("{", '{"loss": 0.1, ', 1), mark="  # found")),
)
GOOD = (
    Example(_BODY.format(opt="AdamW", keys=_ALL, mark="")),
    Example(_BODY.format(opt="SGD", keys=_PART, mark="")),
    Example(_BODY.format(opt="AdamW", keys="net.state_dict()", mark="")),
)
