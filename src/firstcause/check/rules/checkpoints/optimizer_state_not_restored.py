"""A run is resumed with its weights and its epoch, and the optimizer starts empty: it is not saved, or not loaded.

Why: the moments of Adam and the momentum are gone: the loss jumps after each resume, and schedules start anew.
Refuted by: the optimizer's state saved and loaded, plain SGD without momentum.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.steps import OPTIMIZERS, is_optimizer
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

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
            if not keys or not keys.keys() & COUNTERS or not _read_back(code, keys):
                continue
            if sum(keys.values()) == 1:
                text = "the checkpoint holds weights and epoch, not the optimizer's state: a resumed run starts it empty"
                yield finding(SLUG, CATEGORY, origin.module, origin.node, text, related=(save.site,))
            elif (load := _leaves_out(code, origin.module, origin.node, keys)) is not None:
                text = "the optimizer's state is in the checkpoint and is not loaded: a resumed run starts it empty"
                # What was saved on purpose was meant to be loaded.
                # Another optimizer has no use for it.
                kinds = {c.name for c in stateful}
                category: Category = "critical" if len(kinds) == 1 else CATEGORY
                yield finding(SLUG, category, load.module, load.node, text, related=(save.site,))


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


def _leaves_out(code: Code, module: Module, table: ast.AST, keys: dict[str, bool]) -> Call | None:
    """The first load from a checkpoint of which the optimizer's entry is read nowhere."""
    assert isinstance(table, ast.Dict)
    states = {
        key: value.func.value
        for key, value in zip(keys, table.values, strict=True)
        if keys[key] and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    }
    made = {key: code.made_by(module, holder) for key, holder in states.items()}
    lost = [key for key, names in made.items() if names and all(is_optimizer(n) for n in names)]
    read = _read_keys(code)
    if not lost or lost[0] in read or None in read:
        return None
    loads = [c for c in code.methods("load_state_dict") if c.node.args and _key(c.node.args[0]) in states]
    return loads[0] if loads else None


def _read_keys(code: Code) -> set[object]:
    """What entries are read by, in subscripts and by ``get`` and ``pop``; None among them where a key is computed."""
    found: set[object] = {
        _key(n) for m in code.modules for n in m.nodes(ast.Subscript) if isinstance(n.ctx, ast.Load)
    }
    found = {k for k in found if isinstance(k, str)}
    for call in code.methods("get", "pop"):
        first = call.node.args[0] if call.node.args else None
        found.add(first.value if isinstance(first, ast.Constant) else None)
    # Gone through as a whole: each entry may be loaded.
    return found | ({None} if code.called_names() & {"items", "load_checkpoint", "load_state"} else set())


def _key(node: ast.AST) -> object:
    return (
        node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    )


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
_PART = '{"model": net.state_dict(), "epoch": epoch}'
_LOADED = """
import torch

def fit(net, loader, path=None):
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    start = 0
    if path:
        state = torch.load(path)
        net.load_state_dict(state["model"]){mark}
        start = state["epoch"]{more}
    for epoch in range(start, 9):
        torch.save({{"model": net.state_dict(), "epoch": epoch, "opt": opt.state_dict()}}, "last.pt")
"""
_LOADS = '\n        opt.load_state_dict(state["opt"])'
BAD = (
    Example(_LOADED.format(mark="  # found", more="")),
    Example(_BODY.format(opt="AdamW", keys=_PART, mark="  # found")),
    Example(_BODY.format(opt="Adam", keys=_PART.replace("{", '{"loss": 0.1, ', 1), mark="  # found")),
)
GOOD = (
    Example(_LOADED.format(mark="", more=_LOADS)),
    Example(_LOADED.format(mark="", more=_LOADS.replace('["opt"]', '.get("opt")'))),
    Example(_BODY.format(opt="SGD", keys=_PART, mark="")),
    Example(_BODY.format(opt="AdamW", keys="net.state_dict()", mark="")),
)
