"""A run is resumed with its weights and its epoch, and the optimizer starts empty: it is not saved, or not loaded.

Why: the moments of Adam and the momentum are gone: the loss jumps after each resume, and schedules start anew.
Refuted by: the optimizer's state saved and loaded, plain SGD without momentum.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.steps import OPTIMIZERS, is_optimizer
from firstcause.schema.finding import Category, Finding
from firstcause.source.frames import Value
from firstcause.source.module import Module

SLUG = "optimizer-state-not-restored"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

_OF_OPTIMIZER = re.compile(r"(?:^|_)opt(?:im(?:izers?)?)?(?:$|_)", re.IGNORECASE)
# What a checkpoint holds, by its keys.
Entries = dict[str, Value]
COUNTERS = frozenset({"epoch", "step", "global_step", "start_epoch", "iteration", "iter"})


def find(code: Code) -> Iterator[Finding]:
    saves = code.calls("torch.save")
    stateful = code.calls(*(f"torch.optim.{name}" for name in OPTIMIZERS)) if saves else []
    if not stateful or all(c.name.endswith(".SGD") and not c.may_have("momentum") for c in stateful):
        return
    tables = [
        (save, *table)
        for save in saves
        if (value := save.argument("obj", 0)) is not None
        for table in _tables(code, save, value)
    ]
    # Beside the file that a run goes on from, the best weights may lie in one of their own.
    whole = any(_is_whole(code, entries) for *_, entries in tables)
    for save, module, node, entries in tables:
        keys = {key: _is_state(value.node) for key, value in entries.items()}
        # A counter beside the weights says that the run is to go on from there.
        if not keys or not keys.keys() & COUNTERS or not _read_back(code, keys):
            continue
        if sum(keys.values()) == 1 and not whole and not any(_OF_OPTIMIZER.search(key) for key in keys):
            text = "the checkpoint holds weights and epoch, not the optimizer's state: a resumed run starts it empty"
            yield finding(SLUG, CATEGORY, module, node, text, related=(save.site,))
        elif (load := _leaves_out(code, entries)) is not None:
            text = (
                "the optimizer's state is in the checkpoint and is not loaded: a resumed run starts it empty"
            )
            # What was saved on purpose was meant to be loaded.
            # Another optimizer has no use for it.
            kinds = {c.name for c in stateful}
            category: Category = "critical" if len(kinds) == 1 else CATEGORY
            yield finding(SLUG, category, load.module, load.node, text, related=(save.site,))


def _tables(code: Code, save: Call, value: Value) -> Iterator[tuple[Module, ast.AST, Entries]]:
    """The checkpoints that a call writes: mappings that are written out, and what is handed to its ``**state``."""
    function = save.module.function(save.node)
    later = _written_in(save.module, function, value.node)
    for origin in code.origins(value.module, value.node):
        if isinstance(origin.node, ast.Dict):
            made = origin.module.statement(origin.node)
            targets = made.targets if isinstance(made, ast.Assign) and made.value is origin.node else []
            holder = targets[0] if targets else origin.node
            more = _written_in(origin.module, origin.module.function(origin.node), holder)
            pairs = zip(origin.node.keys, origin.node.values, strict=True)
            entries = {
                str(k.value) if isinstance(k, ast.Constant) else "": Value(origin.module, v) for k, v in pairs
            }
            entries |= later | more
            yield origin.module, origin.node, {} if "" in entries else entries
    gathered = getattr(getattr(function, "args", None), "kwarg", None)
    if gathered is None or not isinstance(value.node, ast.Name) or value.node.id != gathered.arg:
        return
    for call in code.own_calls(getattr(function, "name", "")):
        if all(k.arg is not None for k in call.node.keywords):
            given = {str(k.arg): Value(call.module, k.value) for k in call.node.keywords}
            yield call.module, call.node, {} if "" in later else given | later


def _written_in(module: Module, function: ast.AST | None, holder: ast.AST) -> Entries:
    """What a function writes into a mapping that it holds by a name; "" among the keys where it is not said what."""
    found: Entries = {}
    if not isinstance(holder, ast.Name):
        return found
    for node in ast.walk(function or module.tree):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Subscript) and _is_called(target.value, holder):
                    key = _key(target)
                    found[key if isinstance(key, str) else ""] = Value(module, node.value)
                elif isinstance(node, ast.AugAssign) and _is_called(target, holder):
                    found[""] = Value(module, node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found |= {"": Value(module, node)} if _may_write(node.func, holder) else {}
    return found


def _may_write(method: ast.Attribute, holder: ast.Name) -> bool:
    return method.attr in ("update", "setdefault") and _is_called(method.value, holder)


def _is_called(node: ast.AST, holder: ast.Name) -> bool:
    return isinstance(node, ast.Name) and node.id == holder.id


def _is_whole(code: Code, entries: Entries) -> bool:
    """Whether a run can go on from a checkpoint: several states, and a counter or an optimizer's among them."""
    states = [(key, value) for key, value in entries.items() if _is_state(value.node)]
    return len(states) > 1 and bool(
        entries.keys() & COUNTERS
        or any(_OF_OPTIMIZER.search(key) or _of_optimizer(code, value) for key, value in states)
    )


def _of_optimizer(code: Code, state: Value) -> bool:
    holder = _holder(state.node)
    names = code.made_by(state.module, holder) if holder is not None else set()
    return bool(names) and all(is_optimizer(n) for n in names)


def _is_state(value: ast.expr) -> bool:
    """Whether an entry of a checkpoint is a state_dict."""
    return _holder(value) is not None


def _holder(value: ast.expr) -> ast.expr | None:
    """What a ``state_dict`` is of."""
    func = value.func if isinstance(value, ast.Call) else None
    return func.value if isinstance(func, ast.Attribute) and func.attr == "state_dict" else None


def _leaves_out(code: Code, entries: Entries) -> Call | None:
    """The first load from a checkpoint of which the optimizer's entry is read nowhere."""
    states = {key: value for key, value in entries.items() if _is_state(value.node)}
    lost = [key for key, state in states.items() if _of_optimizer(code, state)]
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
_GATHERED = """
import torch

def save(path, **state):
    torch.save(state, path)

def fit(net, loader, path=None):
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    start = 0
    if path:
        kept = torch.load(path, weights_only=True)
        net.load_state_dict(kept["model"]){mark}
        start = kept["epoch"] + 1{more}
    for epoch in range(start, 9):
        save("last.pt", model=net.state_dict(), epoch=epoch, opt=opt.state_dict())
    save("best.pt", model=net.state_dict(), epoch=epoch)
"""
_EXPORTED = """
import torch

def fit(enc, dec, loader, path=None):
    net = torch.nn.Sequential(enc, dec)
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    start = 0
    if path:
        kept = torch.load(path, weights_only=True)
        net.load_state_dict(kept["model"])
        start = kept["epoch"] + 1
    for epoch in range(start, 9):
        torch.save({"model": net.state_dict(), "epoch": epoch}, "last.pt")  # found
    torch.save({"encoder": enc.state_dict(), "decoder": dec.state_dict()}, "export.pt")
"""
_WRITTEN_IN = """
import torch

class Keeper:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def save(self, path, **state):
        {write}
        torch.save(state, path)

def fit(net, loader, path=None):
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    keeper, start = Keeper(opt), 0
    if path:
        kept = torch.load(path, weights_only=True)
        net.load_state_dict(kept["model"])
        opt.load_state_dict(kept["optimizer"])
        start = kept["epoch"] + 1
    for epoch in range(start, 9):
        keeper.save("last.pt", model=net.state_dict(), epoch=epoch){mark}
"""
_WRITES = 'state["optimizer"] = self.optimizer.state_dict()'
_MADE_FIRST = """
import torch

def fit(net, loader, path=None):
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    start = 0
    if path:
        state = torch.load(path)
        net.load_state_dict(state["model"])
        opt.load_state_dict(state["optim"])
        start = state["epoch"]
    for epoch in range(start, 9):
        kept = {"model": net.state_dict(), "epoch": epoch}
        kept["optim"] = opt.state_dict()
        torch.save(kept, "last.pt")
"""
_LOADS = '\n        opt.load_state_dict(state["opt"])'
BAD = (
    Example(_LOADED.format(mark="  # found", more="")),
    Example(_GATHERED.format(mark="  # found", more="")),
    Example(_BODY.format(opt="AdamW", keys=_PART, mark="  # found")),
    Example(_EXPORTED),
    Example(_WRITTEN_IN.format(write='state["version"] = 1', mark="  # found")),
    Example(_BODY.format(opt="Adam", keys=_PART.replace("{", '{"loss": 0.1, ', 1), mark="  # found")),
)
GOOD = (
    Example(_LOADED.format(mark="", more=_LOADS)),
    Example(_GATHERED.format(mark="", more=_LOADS.replace("state[", "kept["))),
    Example(_LOADED.format(mark="", more=_LOADS.replace('["opt"]', '.get("opt")'))),
    Example(_BODY.format(opt="SGD", keys=_PART, mark="")),
    Example(_BODY.format(opt="AdamW", keys="net.state_dict()", mark="")),
    Example(_WRITTEN_IN.format(write=_WRITES, mark="")),
    Example(_WRITTEN_IN.format(write="state.update(self.more)", mark="")),
    Example(_WRITTEN_IN.format(write='state["optimizer"] = gathered(self.optimizer)', mark="")),
    Example(_MADE_FIRST),
)
