"""Which call made an object, through the wrappers and moves that hand the same object on."""

from __future__ import annotations

import ast

from firstcause.check.code import Call, Code
from firstcause.check.library_names import shortest
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

# Methods that give back the object that they are called on.
MOVES = frozenset(
    {"to", "cuda", "cpu", "eval", "train", "half", "float", "bfloat16", "requires_grad_", "share_memory"}
)
# Functions that give back a model around, or the same as, their first argument.
WRAPPERS = frozenset(
    {
        "peft.get_peft_model",
        "peft.prepare_model_for_kbit_training",
        "torch.compile",
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
    }
)
HOPS = 6


def call_of(code: Code, module: Module, node: ast.Call) -> Call:
    """A call node as rules see it, with its resolved name."""
    name = shortest(external(resolve(code.project, module, node.func)))
    if not name and isinstance(node.func, ast.Attribute):
        name = f".{node.func.attr}"
    return Call(code, module, node, name)


def maker(code: Code, module: Module, node: ast.expr) -> Call | None:
    """The one call whose result an expression is; None where it is something else, or more than one."""
    found = code.origins(module, node)
    if len({o.node for o in found}) != 1 or not isinstance(found[0].node, ast.Call):
        return None
    return call_of(code, found[0].module, found[0].node)


def first_maker(code: Code, module: Module, node: ast.expr) -> Call | None:
    """The call that made an object at first, below moves between devices and wrappers."""
    found = maker(code, module, node)
    for _ in range(HOPS):
        inner = wrapped(found) if found is not None else None
        if found is None or inner is None:
            break
        found = maker(code, found.module, inner)
    return found


def makes_several(code: Code, call: Call) -> bool:
    """Whether a call stands in a function that is called more than once: what it makes is another object each time."""
    function = call.module.function(call.node)
    return isinstance(function, ast.FunctionDef) and len(code.own_calls(function.name)) > 1


def wrapped(call: Call) -> ast.expr | None:
    """What a call only hands on: the object that is moved, or the model that is wrapped."""
    if isinstance(call.node.func, ast.Attribute) and call.name == f".{call.node.func.attr}":
        return call.node.func.value if call.node.func.attr in MOVES else None
    return call.node.args[0] if call.name in WRAPPERS and call.node.args else None


def makers_on_the_way(code: Code, module: Module, node: ast.expr) -> list[Call]:
    """Every call that an object passes from its first maker on, the last one first."""
    found: list[Call] = []
    step = maker(code, module, node)
    while step is not None and len(found) < HOPS:
        found.append(step)
        inner = wrapped(step)
        step = maker(code, step.module, inner) if inner is not None else None
    return found


def given_maker(call: Call, name: str, position: int | None = None) -> Call | None:
    """The call that made an argument."""
    value: Value | None = call.argument(name, position)
    return maker(call.code, value.module, value.node) if value is not None and not value.path else None


def is_true(call: Call, name: str, position: int | None = None) -> bool:
    """Whether an argument is surely True."""
    found = call.constant(name, position)
    return found is not None and found.value is True
