"""Calls of a model on the accelerator with a tensor that surely lies in the host's memory."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code, Loop
from firstcause.check.devices import moves
from firstcause.check.makers import call_of, first_maker, maker
from firstcause.check.sequences import looped_over
from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

# The call, the move of its model, and what to say.
Unmoved = tuple[Module, ast.Call, Call, str]
# What makes a tensor on the CPU where no device is given.
FACTORIES = frozenset(
    f"torch.{name}"
    for name in (
        "tensor", "as_tensor", "from_numpy", "zeros", "ones", "rand", "randn", "arange", "full", "randint",
    )
)  # fmt: skip
MOVES = frozenset({"to", "cuda"})


def made_on_the_host(code: Code) -> Iterator[Unmoved]:
    """Models on the accelerator that are called with a tensor which was made without a device, as in one step of a policy."""
    # Few programs make one in such a call: the moves are asked for only then.
    calls = [
        (module, node, made)
        for module in code.modules
        for node in module.nodes(ast.Call)
        if node.args
        and isinstance(node.func, ast.Name)
        and (made := _host_tensor(code, module, node.args[0]))
    ]
    found = moves(code) if calls else None
    if found is None or found.placed:
        return
    for module, node, made in calls:
        model = first_maker(code, module, node.func)
        if model is not None and model.node in found.models and not _moves_inputs(code, model):
            text = (
                f"the model is on the GPU (line {found.models[model.node].node.lineno}), and what {ast.unparse(made.func)} "
                "makes here stays on the CPU"
            )
            yield module, node, found.models[model.node], text


def _host_tensor(code: Code, module: Module, node: ast.expr) -> ast.Call | None:
    """The call of torch that makes the tensor in the host's memory; None where it is moved, or comes from elsewhere."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        inner = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Call) and call_of(code, module, node).name in FACTORIES:
            return None if any(k.arg in ("device", None) for k in node.keywords) else node
        if not isinstance(inner, (ast.Attribute, ast.Subscript)):
            return None
        if isinstance(inner, ast.Attribute) and inner.attr in ("to", "cuda", "type_as"):
            return None
        node = inner.value
    return None


def _moves_inputs(code: Code, model: Call) -> bool:
    """Whether a class of the project's own moves what it is given."""
    target = resolve(code.project, model.module, model.node.func)
    if not isinstance(target, Defined):
        return False
    names = {last_name(n.func) for n in ast.walk(target.node) if isinstance(n, ast.Call)}
    return bool(names & {"to", "cuda", "as_tensor", "type_as"})


def straight_from_a_loader(code: Code) -> Iterator[Unmoved]:
    """Models that get a part of the batch as the loader gives it, in a loop that moves another part of it."""
    found = moves(code)
    if found.placed or not found.models or not found.others:
        return
    for loop in code.loops():
        over = looped_over(loop)
        made = maker(code, loop.module, over) if over is not None else None
        if not isinstance(loop.node, ast.For) or made is None or made.name != "torch.utils.data.DataLoader":
            continue
        parts = {n.id for n in ast.walk(loop.node.target) if isinstance(n, ast.Name)}
        moved = {c.func.value.id for c in _calls(loop) if _moves(c, parts)}  # type: ignore[attr-defined]
        left = parts - moved - _bound_again(loop)
        for call in _calls(loop) if moved else ():
            given = call.args[0] if call.args else None
            if not isinstance(given, ast.Name) or given.id not in left or not isinstance(call.func, ast.Name):
                continue
            model = first_maker(code, loop.module, call.func)
            if model is not None and model.node in found.models and not _moves_inputs(code, model):
                where = found.models[model.node]
                text = f"the model is on the GPU (line {where.node.lineno}), and {given.id} stays where the loader has it"
                yield loop.module, call, where, text


def _calls(loop: Loop) -> list[ast.Call]:
    return [n for n in loop.nodes if isinstance(n, ast.Call)]


def _moves(call: ast.Call, names: set[str]) -> bool:
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr in MOVES and getattr(func.value, "id", "") in names


def _bound_again(loop: Loop) -> set[str]:
    """The names that the loop's body gives another value."""
    return {
        n.id
        for statement in loop.node.body
        for n in ast.walk(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
