"""What a training loop does in one iteration, in order, through the project's own functions: cleared, backward, stepped.

An object is known by the calls that make it: two names for one optimizer are one optimizer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from firstcause.check.code import Call, Code, Loop
from firstcause.check.library_names import shortest
from firstcause.check.prepared import stepped
from firstcause.check.steps import DEPTH, is_optimizer
from firstcause.source.callees import callees
from firstcause.source.callsites import call_sites, last_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Frame, Value
from firstcause.source.module import FUNCTIONS, FunctionNode, Module, children
from firstcause.source.resolve import external, resolve

EventKind = Literal[
    "zero-grad", "backward", "step", "schedule", "scale", "unscale", "scaler-step", "scaler-update", "clip",
    "train", "eval",
]  # fmt: skip
SCALERS = frozenset({"torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.GradScaler"})
CLIPS = frozenset(
    f"torch.nn.utils.{where}{name}"
    for where in ("", "clip_grad.")
    for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")
)
_METHODS: dict[str, EventKind] = {
    "zero_grad": "zero-grad",
    "backward": "backward",
    "train": "train",
    "eval": "eval",
}
# A function that calls none of these, itself or further in, has no events and is not looked into.
_NAMES = frozenset(
    {
        "zero_grad",
        "backward",
        "step",
        "unscale_",
        "train",
        "eval",
        "clip_grad_norm_",
        "clip_grad_value_",
        "clip_grad_norm",
    }
)
# What an iteration may cost: a library's own trainer is no program to be read in one go.
MAX_CALLS = 400
_OF_SCALER: dict[str, EventKind] = {
    "scale": "scale",
    "unscale_": "unscale",
    "step": "scaler-step",
    "update": "scaler-update",
}


@dataclass(frozen=True, eq=False)
class Event:
    """One call of an iteration; ``objects`` are the calls that made what it acts on, ``guards`` what decides on it.

    For a scaler's ``step`` and ``unscale_`` the objects are those of the optimizer that it is given.
    """

    kind: EventKind
    call: Call
    objects: frozenset[ast.AST]
    guards: tuple[ast.AST, ...]

    @property
    def guarded(self) -> bool:
        """Whether a test decides on it in an iteration."""
        return bool(self.guards)


def events(code: Code, loop: Loop) -> list[Event]:
    """The events of one iteration of a loop, in the order of the text, the project's own functions taken apart."""
    known = code.project.memory.setdefault("events", {})
    if loop.node not in known:
        whole = list(
            islice(_of_block(code, loop.module, loop.node.body, None, (), 0, frozenset()), MAX_CALLS)
        )
        known[loop.node] = whole if len(whole) < MAX_CALLS else []
    found: list[Event] = known[loop.node]
    return found


def _eventful(code: Code) -> frozenset[str]:
    """The names of the project's functions in which an event may happen, by the names of what they call."""
    known: frozenset[str] | None = code.project.memory.get("eventful")
    if known is not None:
        return known
    called: dict[str, set[str]] = {}
    for module in code.modules:
        for call in module.nodes(ast.Call):
            name = last_name(call.func)
            for function in _functions_around(module, call):
                called.setdefault(function.name, set()).add(name)
    found = set(_NAMES)
    for _ in range(DEPTH):
        found |= {name for name, names in called.items() if names & found}
    known = frozenset(found)
    code.project.memory["eventful"] = known
    return known


def _functions_around(module: Module, node: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [p for p in module.ancestors(node) if isinstance(p, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _of_block(
    code: Code,
    module: Module,
    block: list[ast.stmt],
    frame: Frame | None,
    guards: tuple[ast.AST, ...],
    depth: int,
    inside: frozenset[ast.AST],
) -> Iterator[Event]:
    for statement in block:
        for node, tested in _in_order(statement, guards):
            if isinstance(node, ast.Call):
                yield from _of_call(code, module, node, frame, tested, depth, inside)


def _of_call(
    code: Code,
    module: Module,
    node: ast.Call,
    frame: Frame | None,
    guards: tuple[ast.AST, ...],
    depth: int,
    inside: frozenset[ast.AST],
) -> Iterator[Event]:
    value = Value(module, node, frame)
    kind, acted = _kind(code, value)
    if kind is not None:
        made = frozenset(_made(code, value.at(acted))) if acted is not None else frozenset()
        name = shortest(external(resolve(code.project, module, node.func)))
        yield Event(kind, Call(code, module, node, name), made, guards)
        return
    if depth >= DEPTH or last_name(node.func) not in _eventful(code):
        return
    for callee in callees(new_walk(code.project), value):
        function = callee.function
        if (
            function is None
            or callee.module is None
            or function in inside
            or isinstance(function, ast.Lambda)
        ):
            continue
        inner = callee.frame(value)
        yield from _of_block(
            code, callee.module, function.body, inner, guards, depth + 1, inside | {function}
        )


def _kind(code: Code, value: Value) -> tuple[EventKind | None, ast.expr | None]:
    """Which event a call is, and the expression that it acts on."""
    node = value.node
    assert isinstance(node, ast.Call)
    name = shortest(external(resolve(code.project, value.module, node.func)))
    if name in CLIPS:
        return "clip", node.args[0] if node.args else None
    if name == "torch.autograd.backward":
        return "backward", node.args[0] if node.args else None
    if not isinstance(node.func, ast.Attribute) or name:
        return None, None
    attribute, on = node.func.attr, node.func.value
    if attribute in ("step", "unscale_", "scale", "update"):
        return _of_stateful(code, value, attribute, on)
    return _METHODS.get(attribute), on


def _of_stateful(
    code: Code, value: Value, attribute: str, on: ast.expr
) -> tuple[EventKind | None, ast.expr | None]:
    """The methods whose meaning depends on whose they are: a scaler's, an optimizer's, a schedule's."""
    assert isinstance(value.node, ast.Call)
    names = {_class(code, o) for o in new_walk(code.project).origins(value.at(on))}
    if names and names <= SCALERS:
        of_optimizer = attribute in ("step", "unscale_") and value.node.args
        return _OF_SCALER[attribute], value.node.args[0] if of_optimizer else on
    if attribute == "step" and names and all(is_optimizer(n) for n in names):
        return "step", on
    if attribute == "step" and stepped(code, value.module, on) == "optimizer":
        # What accelerate has prepared steps as it did before.
        return "step", on
    if (
        attribute == "step"
        and names
        and all(n.startswith("torch.optim.") and "scheduler" in n.lower() for n in names)
    ):
        return "schedule", on
    return None, None


def _class(code: Code, origin: object) -> str:
    node, module = getattr(origin, "node", None), getattr(origin, "module", None)
    if not isinstance(node, ast.Call) or module is None:
        return ""
    return shortest(external(resolve(code.project, module, node.func)))


def _made(code: Code, value: Value) -> set[ast.AST]:
    """The calls that make an object; a model's for ``model.parameters()``."""
    node = value.node
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("parameters", "values")
    ):
        return _made(code, value.at(node.func.value))
    return {o.node for o in new_walk(code.project).origins(value)}


def _in_order(node: ast.AST, guards: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """The nodes of a statement as they are evaluated: arguments before their call, tests before what they guard."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return
    if isinstance(node, (ast.If, ast.While)):
        yield from _in_order(node.test, guards)
        tests = isinstance(node, ast.If)
        # Either branch is a guard of its own: the test stands for the first, the whole statement for the other.
        for branch, guard in ((node.body, node.test), (node.orelse, node)):
            for inner in branch:
                yield from _in_order(inner, (*guards, guard) if tests else guards)
        return
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
        yield from _in_order(node.value, guards)
        return
    for child in children(node):
        yield from _in_order(child, guards)
    yield node, guards


def training_loops(code: Code) -> list[Loop]:
    """The innermost loops that step an optimizer, themselves or through a scaler."""
    known: list[Loop] | None = code.project.memory.get("training loops")
    if known is None:
        loops = [loop for loop in code.loops() if _may_step(code, loop) and _steps(code, loop)]
        known = [o for o in loops if not any(o.holds(i.node) for i in loops if i is not o)]
        code.project.memory["training loops"] = known
    return known


def backward_loops(code: Code) -> list[Loop]:
    """The innermost loops around a backward, where what steps is out of sight: prepared or wrapped by a library."""
    found = {loop.node: loop for c in code.methods("backward") if (loop := c.loop) is not None}
    return list(found.values())


def _may_step(code: Code, loop: Loop) -> bool:
    eventful = _eventful(code)
    return any(last_name(n.func) in eventful for n in loop.module.inside(loop.node, ast.Call))


def _steps(code: Code, loop: Loop) -> bool:
    return any(e.kind in ("step", "scaler-step") for e in events(code, loop))


def around(code: Code, loop: Loop) -> list[Loop]:
    """The loops around a loop, innermost first, those around the calls of its function included."""
    found: list[Loop] = []
    outer = code.loop_around(loop.module, loop.node)
    while outer is not None:
        found.append(outer)
        outer = code.loop_around(outer.module, outer.node)
    function = loop.module.function(loop.node)
    if function is not None:
        seen = {o.node for o in found}
        calling = {
            node for call in _calls_of(code, loop.module, function) for node in _loops_around(code, call)
        }
        found += [o for o in code.loops() if o.node in calling and o.node not in seen]
    return found


def _calls_of(code: Code, module: Module, function: FunctionNode) -> list[Value]:
    sites = call_sites(new_walk(code.project), module, function)
    return [site.call for site in sites if site.call is not None]


def _loops_around(code: Code, call: Value) -> Iterator[ast.AST]:
    outer = code.loop_around(call.module, call.node)
    while outer is not None:
        yield outer.node
        outer = code.loop_around(outer.module, outer.node)
