"""The schedules that a Lightning module hands over, and whether its trainer steps them in every batch or once an epoch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.check.code import Call, Code
from firstcause.check.makers import call_of
from firstcause.check.schedule_lengths import JOINED, LENGTHS
from firstcause.source.frames import Value
from firstcause.source.module import Module

MAKER = "configure_optimizers"
MODULES = ("lightning.LightningModule",)
TRAINERS = ("lightning.Trainer",)
MOST_LISTS = 2


@dataclass(frozen=True, eq=False)
class Handed:
    """A schedule, how often it is stepped (``step`` or ``epoch``), and the expression that says so or could."""

    made: Call
    interval: str
    module: Module
    place: ast.expr


def handed_schedules(code: Code) -> Iterator[Handed]:
    """Every schedule that is surely stepped by Lightning, and surely in one way."""
    if not code.imports("lightning") and not code.imports("pytorch_lightning"):
        return
    for module in code.modules:
        if _steps_by_hand(module):
            continue
        for node in module.nodes(ast.Dict):
            held = {k.value: v for k, v in zip(node.keys, node.values, strict=True) if _is_text(k)}  # type: ignore[union-attr]
            if "scheduler" in held and ("interval" in held or _in_maker(code, module, node)):
                yield from _of_config(code, module, node, held, None in node.keys)
            elif "lr_scheduler" in held and _in_maker(code, module, node):
                yield from _plain(code, module, held["lr_scheduler"])
        for call in module.nodes(ast.Call):
            given = {k.arg: k.value for k in call.keywords if k.arg}
            if "scheduler" in given and "interval" in given:
                yield from _of_config(code, module, call, given, len(given) < len(call.keywords))
            elif isinstance(call.func, ast.Name) and call.func.id == "dict" and _in_maker(code, module, call):
                yield from _plain(code, module, given["lr_scheduler"]) if "lr_scheduler" in given else ()
        for returned in module.nodes(ast.Return):
            if _in_maker(code, module, returned):
                yield from _of_lists(code, module, returned)


def trainers_epochs(code: Code) -> list[Value]:
    """What the trainers of Lightning are given as max_epochs."""
    own = sorted(d.node.name for d in code.subclasses_of(*TRAINERS))
    calls = [*code.calls(*TRAINERS), *(c for name in own for c in code.own_calls(name))]
    return [v for c in calls if (v := c.argument("max_epochs")) is not None]


def _is_text(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def _of_config(
    code: Code, module: Module, node: ast.expr, held: dict[str, ast.expr], open_ended: bool
) -> Iterator[Handed]:
    """A mapping with ``scheduler`` and, where it is not once an epoch, ``interval``."""
    place, interval = held["scheduler"], "epoch"
    said = held.get("interval", _stored(module, node, "interval"))
    often = held.get("frequency", _stored(module, node, "frequency"))
    if said is not None:
        known = code.constant(module, said)
        if known is None or known.value not in ("step", "epoch"):
            return
        place, interval = said, str(known.value)
    elif open_ended:
        return
    if often is not None:
        count = code.constant(module, often)
        if count is None or count.value != 1:
            return
    yield from _of(code, module, held["scheduler"], interval, place)


def _stored(module: Module, node: ast.expr, key: str) -> ast.expr | None:
    """What the function stores under a key of a mapping after it has made it."""
    function = module.function(node)
    for inner in ast.walk(function) if function is not None else ():
        if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Subscript):
            name = inner.targets[0].slice
            if isinstance(name, ast.Constant) and name.value == key:
                return inner.value
    return None


def _plain(code: Code, module: Module, value: ast.expr) -> Iterator[Handed]:
    """A schedule without a mapping around it: once an epoch."""
    yield from _of(code, module, value, "epoch", value)


def _of_lists(code: Code, module: Module, returned: ast.Return) -> Iterator[Handed]:
    """``return [optimizer], [schedule]``."""
    value = returned.value
    if not isinstance(value, (ast.Tuple, ast.List)) or len(value.elts) != MOST_LISTS:
        return
    for origin in code.origins(module, value.elts[1]):
        if isinstance(origin.node, (ast.List, ast.Tuple)):
            for element in origin.node.elts:
                yield from _plain(code, origin.module, element)


def _of(code: Code, module: Module, value: ast.expr, interval: str, place: ast.expr) -> Iterator[Handed]:
    origins = code.origins(module, value)
    if len(origins) == 1 and isinstance(origins[0].node, ast.Call):
        made = call_of(code, origins[0].module, origins[0].node)
        if made.name in LENGTHS or made.name in JOINED:
            yield Handed(made, interval, module, place)


def _in_maker(code: Code, module: Module, node: ast.AST) -> bool:
    function = module.function(node)
    cls = module.method_class(node)
    if cls is None or not isinstance(function, ast.FunctionDef) or function.name != MAKER:
        return False
    return any(d.node is cls for d in code.subclasses_of(*MODULES))


def _steps_by_hand(module: Module) -> bool:
    """Whether a file takes the steps from Lightning: manual optimization, or a hook of its own for the schedule."""
    own = any(f.name == "lr_scheduler_step" for f in module.nodes(ast.FunctionDef))
    return own or any(
        isinstance(t, ast.Attribute) and t.attr == "automatic_optimization"
        for a in module.nodes(ast.Assign)
        for t in a.targets
    )
