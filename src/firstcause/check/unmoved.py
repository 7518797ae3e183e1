"""Calls of a model on the accelerator with a tensor that surely lies in the host's memory.

Silent where anything else may say where a tensor or the model lies: a model that is moved back or copied, a device in
force, batches that are moved before they are batches, a model that moves what it is given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Call, Code, Loop
from firstcause.check.devices import Moves, accelerator, moves
from firstcause.check.makers import call_of, first_maker
from firstcause.check.sequences import looped_over
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

# The call, the move of its model, and what to say.
Unmoved = tuple[Module, ast.Call, Call, str]
# What makes a tensor on the CPU where no device is given; of another tensor it keeps the device.
FACTORIES = frozenset(f"torch.{n}" for n in ("zeros", "ones", "rand", "randn", "arange", "full", "randint"))
OF_VALUES = frozenset({"torch.tensor", "torch.as_tensor", "torch.from_numpy"})
# Methods on the way that may bring a tensor to another place.
ELSEWHERE = frozenset({"to", "cuda", "type", "type_as", "new_tensor", "pin_memory"})
# Surroundings whose states are arrays of numbers.
ENVIRONMENTS = ("gymnasium", "gym")
# A copy may lie elsewhere, and a hook may move what the model is given.
UNCLEAR = frozenset({"deepcopy", "register_forward_pre_hook"})


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
    if found is None or not _is_clear(code, found):
        return
    for module, node, made in calls:
        model = first_maker(code, module, node.func)
        if model is None or model.node not in found.models:
            continue
        move = found.models[model.node]
        if module.function(node) is move.module.function(move.node) or _under_device(code, module, node):
            # Beside the move it may stand before it, or in another branch.
            continue
        text = (
            f"the model is on the GPU (line {move.node.lineno}), and what {ast.unparse(made.func)} makes here stays on "
            "the CPU"
        )
        yield module, node, move, text


def _is_clear(code: Code, found: Moves) -> bool:
    """Whether models are moved once, to the accelerator, and take what they are given as it is."""
    if found.placed or not found.models or code.called_names() & UNCLEAR:
        return False
    for call in code.methods("to", "cpu"):
        back = call.name == ".cpu" or accelerator(call) is not True
        made = first_maker(code, call.module, call.receiver) if back and call.receiver is not None else None
        if made is not None and made.node in found.models:
            return False
    classes = [d.node for d in code.subclasses_of("torch.nn.Module")]
    inside = {last_name(n.func) for cls in classes for n in ast.walk(cls) if isinstance(n, ast.Call)}
    return not inside & {"to", "cuda", "as_tensor", "type_as"}


def _under_device(code: Code, module: Module, node: ast.AST) -> bool:
    return code.under(module, node, "torch.device", "torch.cuda.device") is not None


def _host_tensor(code: Code, module: Module, node: ast.expr) -> ast.Call | None:
    """The call of torch that makes the tensor in the host's memory; None where it is moved, or comes from elsewhere."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        inner = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Call):
            name = call_of(code, module, node).name
            if name in FACTORIES or (name in OF_VALUES and _of_numbers(code, module, node)):
                return None if any(k.arg in ("device", None) for k in node.keywords) else node
        if not isinstance(inner, (ast.Attribute, ast.Subscript)):
            return None
        if isinstance(inner, ast.Attribute) and inner.attr in ELSEWHERE:
            return None
        node = inner.value
    return None


def _of_numbers(code: Code, module: Module, call: ast.Call) -> bool:
    """Whether a tensor is made of what is none: of numbers that are written out, or of an environment's state."""
    value = call.args[0] if call.args else None
    if isinstance(value, (ast.List, ast.Tuple)):
        return all(isinstance(n, ast.Constant) for n in value.elts)
    if value is None or not any(code.imports(name) for name in ENVIRONMENTS):
        return False
    origins = code.origins(module, value)
    # What ``env.reset()`` and ``env.step()`` give, and no call of torch's.
    calls = [o.node for o in origins if isinstance(o.node, ast.Call)]
    return (
        bool(calls)
        and len(calls) == len(origins)
        and all(last_name(c.func) in ("reset", "step") for c in calls)
    )


def straight_from_a_loader(code: Code) -> Iterator[Unmoved]:
    """Models that get a part of the batch as the loader gives it, in a loop that moves another part of it."""
    found = moves(code)
    if found.unknown or not found.others or not _is_clear(code, found):
        return
    loops = [loop for loop in code.loops() if _over_a_loader(code, loop)]
    moved_at = {c.node for c in found.others}
    if not moved_at <= {n for loop in loops for n in _calls(loop)}:
        # Something else is moved, and may be what the batches are made of.
        return
    for loop in loops:
        assert isinstance(loop.node, ast.For)
        parts = {n.id for n in ast.walk(loop.node.target) if isinstance(n, ast.Name)}
        moved = {name for c in _calls(loop) if c in moved_at and (name := _receiver(c)) in parts}
        left = parts - moved - _changed(loop)
        for call in _calls(loop) if moved else ():
            given = call.args[0] if call.args else None
            if not isinstance(given, ast.Name) or given.id not in left or not isinstance(call.func, ast.Name):
                continue
            model = first_maker(code, loop.module, call.func)
            if model is not None and model.node in found.models:
                where = found.models[model.node]
                text = f"the model is on the GPU (line {where.node.lineno}), and {given.id} stays where the loader has it"
                yield loop.module, call, where, text


def _over_a_loader(code: Code, loop: Loop) -> bool:
    over = looped_over(loop)
    origins = code.origins(loop.module, over) if over is not None and isinstance(loop.node, ast.For) else []
    # A function may be given several: one to train on, one to validate on.
    names = {call_of(code, o.module, o.node).name if isinstance(o.node, ast.Call) else "" for o in origins}
    return names == {"torch.utils.data.DataLoader"}


def _calls(loop: Loop) -> list[ast.Call]:
    return [n for n in loop.nodes if isinstance(n, ast.Call)]


def _receiver(call: ast.Call) -> str:
    return getattr(call.func.value, "id", "") if isinstance(call.func, ast.Attribute) else ""


def _changed(loop: Loop) -> set[str]:
    """The names that the loop's body gives another value, or an item of it."""
    found = set()
    for statement in loop.node.body:
        for node in ast.walk(statement):
            if isinstance(getattr(node, "ctx", None), ast.Store):
                while isinstance(node, (ast.Subscript, ast.Attribute)):
                    node = node.value
                found.add(getattr(node, "id", ""))
    return found
