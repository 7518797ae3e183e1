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
from firstcause.source.frames import Value
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
    tables = [
        (save, *table)
        for save in saves
        if (value := save.argument("obj", 0)) is not None
        for table in _tables(code, save, value)
    ]
    # Beside the file that a run goes on from, the best weights may lie in one of their own.
    whole = any(
        entries.keys() & COUNTERS and sum(map(_is_state, entries.values())) > 1 for *_, entries in tables
    )
    for save, module, node, entries in tables:
        keys = {key: _is_state(value) for key, value in entries.items()}
        # A counter beside the weights says that the run is to go on from there.
        if not keys or not keys.keys() & COUNTERS or not _read_back(code, keys):
            continue
        if sum(keys.values()) == 1 and not whole:
            text = "the checkpoint holds weights and epoch, not the optimizer's state: a resumed run starts it empty"
            yield finding(SLUG, CATEGORY, module, node, text, related=(save.site,))
        elif (load := _leaves_out(code, module, entries)) is not None:
            text = (
                "the optimizer's state is in the checkpoint and is not loaded: a resumed run starts it empty"
            )
            # What was saved on purpose was meant to be loaded.
            # Another optimizer has no use for it.
            kinds = {c.name for c in stateful}
            category: Category = "critical" if len(kinds) == 1 else CATEGORY
            yield finding(SLUG, category, load.module, load.node, text, related=(save.site,))


def _tables(code: Code, save: Call, value: Value) -> Iterator[tuple[Module, ast.AST, dict[str, ast.expr]]]:
    """The checkpoints that a call writes: mappings that are written out, and what is handed to its ``**state``."""
    for origin in code.origins(value.module, value.node):
        if isinstance(origin.node, ast.Dict):
            entries = {
                str(k.value) if isinstance(k, ast.Constant) else "": v
                for k, v in zip(origin.node.keys, origin.node.values, strict=True)
            }
            made = origin.module.statement(origin.node)
            targets = made.targets if isinstance(made, ast.Assign) else []
            unknown = "" in entries or any(_is_filled(origin.module, t) for t in targets)
            yield origin.module, origin.node, {} if unknown else entries
    function = save.module.function(save.node)
    gathered = getattr(getattr(function, "args", None), "kwarg", None)
    if gathered is None or not isinstance(value.node, ast.Name) or value.node.id != gathered.arg:
        return
    if _is_filled(save.module, value.node):
        return
    for call in code.own_calls(getattr(function, "name", "")):
        if all(k.arg is not None for k in call.node.keywords):
            yield call.module, call.node, {str(k.arg): k.value for k in call.node.keywords}


def _is_filled(module: Module, name: ast.expr) -> bool:
    """Whether more is put into the mapping that a name of the same function stands for."""
    text = ast.unparse(name)
    for node in ast.walk(module.function(name) or module.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            filled: ast.expr | None = node.value
        else:
            func = node.func if isinstance(node, ast.Call) else None
            puts = isinstance(func, ast.Attribute) and func.attr in ("update", "setdefault")
            filled = func.value if puts and isinstance(func, ast.Attribute) else None
        if filled is not None and ast.unparse(filled) == text:
            return True
    return False


def _is_state(value: ast.expr) -> bool:
    """Whether an entry of a checkpoint is a state_dict."""
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "state_dict"
    )


def _leaves_out(code: Code, module: Module, entries: Mapping[str, ast.expr]) -> Call | None:
    """The first load from a checkpoint of which the optimizer's entry is read nowhere."""
    states = {
        key: value.func.value
        for key, value in entries.items()
        if _is_state(value) and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
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
_PACKED = """
def pack(net, epoch, opt):
    state = {"model": net.state_dict(), "epoch": epoch}
    state.update(opt=opt.state_dict())
    return state
"""
_EXPORTED = '\n    torch.save({"encoder": net.a.state_dict(), "decoder": net.b.state_dict()}, "export.pt")\n'
_LOADS = '\n        opt.load_state_dict(state["opt"])'
BAD = (
    Example(_BODY.format(opt="AdamW", keys=_PART, mark="  # found") + _EXPORTED),
    Example(_LOADED.format(mark="  # found", more="")),
    Example(_GATHERED.format(mark="  # found", more="")),
    Example(_BODY.format(opt="AdamW", keys=_PART, mark="  # found")),
    Example(_BODY.format(opt="Adam", keys=_PART.replace("{", '{"loss": 0.1, ', 1), mark="  # found")),
)
GOOD = (
    Example(_BODY.format(opt="AdamW", keys="pack(net, epoch, opt)", mark="") + _PACKED),
    Example("""
import torch

def save(path, opt, **state):
    state["optimizer"] = opt.state_dict()
    torch.save(state, path)

def fit(net, loader, path=None):
    opt = torch.optim.AdamW(net.parameters(), lr=0.1)
    start = 0
    if path:
        kept = torch.load(path, weights_only=True)
        net.load_state_dict(kept["model"])
        opt.load_state_dict(kept["optimizer"])
        start = kept["epoch"] + 1
    for epoch in range(start, 9):
        save("last.pt", opt, model=net.state_dict(), epoch=epoch)
"""),
    Example(_LOADED.format(mark="", more=_LOADS)),
    Example(_GATHERED.format(mark="", more=_LOADS.replace("state[", "kept["))),
    Example(_LOADED.format(mark="", more=_LOADS.replace('["opt"]', '.get("opt")'))),
    Example(_BODY.format(opt="SGD", keys=_PART, mark="")),
    Example(_BODY.format(opt="AdamW", keys="net.state_dict()", mark="")),
)
