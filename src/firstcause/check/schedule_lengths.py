"""How long a learning rate schedule is, and whether that counts epochs or steps."""

from __future__ import annotations

import ast
import re
from typing import Literal

from firstcause.check.code import Call, Code
from firstcause.check.makers import call_of
from firstcause.source.callsites import last_name
from firstcause.source.frames import Value

Unit = Literal["epochs", "steps", ""]
TORCH = "torch.optim.lr_scheduler."
# The argument that says how long a schedule is, by name and position; the first one that is given counts.
LENGTHS: dict[str, tuple[tuple[str, int], ...]] = {
    f"{TORCH}OneCycleLR": (("total_steps", 2), ("steps_per_epoch", 4)),
    f"{TORCH}CosineAnnealingLR": (("T_max", 1),),
    f"{TORCH}CosineAnnealingWarmRestarts": (("T_0", 1),),
    f"{TORCH}LinearLR": (("total_iters", 3),),
    f"{TORCH}ConstantLR": (("total_iters", 2),),
    f"{TORCH}PolynomialLR": (("total_iters", 1),),
    f"{TORCH}LambdaLR": (("lr_lambda", 1),),
    f"{TORCH}StepLR": (("step_size", 1),),
    f"{TORCH}MultiStepLR": (("milestones", 1),),
    "transformers.get_linear_schedule_with_warmup": (("num_training_steps", 2),),
    "transformers.get_cosine_schedule_with_warmup": (("num_training_steps", 2),),
    "transformers.get_cosine_with_hard_restarts_schedule_with_warmup": (("num_training_steps", 2),),
    "transformers.get_polynomial_decay_schedule_with_warmup": (("num_training_steps", 2),),
    "transformers.get_scheduler": (("num_training_steps", 3),),
    "pl_bolts.optimizers.lr_scheduler.LinearWarmupCosineAnnealingLR": (("max_epochs", 2),),
}
# Those whose parts are schedules.
JOINED = {f"{TORCH}SequentialLR": ("schedulers", 1), f"{TORCH}ChainedScheduler": ("schedulers", 0)}
PLAIN = frozenset({"int", "ceil", "round", "floor", "max", "min", "float"})
HOPS = 5
_EPOCHS = re.compile(r"(^|_)n?epochs?$|^(num|max|total|n)epochs$|^epoch(s)?_(count|number|total|num)$")
_STEPS = re.compile(
    r"(^|_)n?(steps|updates|iters|iterations|batches)$|(steps|batches|iters|updates)_per_epoch$|^estimated_stepping_batches$"
)


def length_of(made: Call) -> Value | None:
    """The argument of a schedule that says how long it is."""
    wanted = LENGTHS.get(made.name, ())
    given = next((v for n, p in wanted if (v := made.argument(n, p)) is not None), None)
    return _whole(made.code, given) if given is not None and made.name.endswith("LambdaLR") else given


def _whole(code: Code, given: Value) -> Value | None:
    """What a function of the step divides it by, where that is one thing."""
    if given.path:
        return None
    found = []
    for origin in code.origins(given.module, given.node):
        node = origin.node
        if not isinstance(node, (ast.Lambda, ast.FunctionDef)) or not node.args.args:
            continue
        # A method is given itself first.
        step = node.args.args[-1].arg
        for inner in ast.walk(node):
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Div):
                names = {n.id for n in ast.walk(inner.left) if isinstance(n, ast.Name)}
                found += [Value(origin.module, inner.right)] if step in names else []
    return found[0] if len({ast.unparse(v.node) for v in found}) == 1 else None


def parts_of(code: Code, made: Call) -> list[Call]:
    """The schedules that one is joined from; itself where it is none of those."""
    if made.name not in JOINED:
        return [made]
    given = made.argument(*JOINED[made.name])
    found: list[Call] = []
    for origin in code.origins(given.module, given.node) if given is not None and not given.path else []:
        for element in origin.node.elts if isinstance(origin.node, (ast.List, ast.Tuple)) else []:
            for inner in code.origins(origin.module, element):
                if isinstance(inner.node, ast.Call):
                    found.append(call_of(code, inner.module, inner.node))
    return found


def unit_of(code: Code, value: Value, hops: int = HOPS) -> Unit:
    """What a number counts, by what it is computed from, or else by its name; empty where neither says it."""
    node = value.node
    if value.path:
        return ""
    if isinstance(node, ast.BinOp):
        return _of_operation(code, value, node, hops)
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name in PLAIN:
            found: set[Unit] = {u for a in node.args if (u := unit_of(code, value.at(a), hops))}
            return found.pop() if len(found) == 1 else ""
        if name == "len" and node.args:
            return "steps" if _is_loader(node.args[0]) else ""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) and hops:
        origins = [o for o in code.origins(value.module, node) if o.node is not node]
        units = {
            unit_of(code, Value(o.module, o.node), hops - 1) if isinstance(o.node, ast.expr) else ""
            for o in origins
        }
        if units and "" not in units:
            return units.pop() if len(units) == 1 else ""
        if {"epochs", "steps"} <= units:
            return ""
    told = _of_name(node)
    if not told and isinstance(node, ast.Name) and hops:
        # A number may come from a config: then the names on the way tell it.
        given = _assigned(value, node)
        return unit_of(code, value.at(given), hops - 1) if given is not None else ""
    return told


def _assigned(value: Value, node: ast.Name) -> ast.expr | None:
    """What is assigned to a name in its function, where that is one attribute, name or entry."""
    function = value.module.function(node)
    while isinstance(function, ast.Lambda):
        function = value.module.function(function)
    found = [
        a.value
        for a in value.module.nodes(ast.Assign)
        if value.module.function(a) is function
        and any(isinstance(t, ast.Name) and t.id == node.id for t in a.targets)
    ]
    plain = (ast.Attribute, ast.Name, ast.Subscript)
    return found[0] if len(found) == 1 and isinstance(found[0], plain) else None


def _of_operation(code: Code, value: Value, node: ast.BinOp, hops: int) -> Unit:
    left, right = (unit_of(code, value.at(n), hops) for n in (node.left, node.right))
    if isinstance(node.op, (ast.Add, ast.Sub)):
        return (left or right) if not (left and right) or left == right else ""
    if isinstance(node.op, (ast.Div, ast.FloorDiv)):
        counted = isinstance(node.left, ast.Call) and last_name(node.left.func) == "len"
        # What is divided by as many is no longer counted so; samples by the size of a batch are steps.
        if left and not right:
            return left
        return "steps" if counted and not right and "batch" in ast.unparse(node.right).lower() else ""
    if not isinstance(node.op, ast.Mult):
        return ""
    if "steps" in (left, right):
        # So many steps in each of so many epochs.
        return "steps"
    if left == right == "epochs":
        return ""
    other = node.right if left else node.left
    known = code.constant(value.module, other)
    if (
        (left or right)
        and known is not None
        and isinstance(known.value, (int, float))
        and 0 < known.value <= 2
    ):
        return left or right
    lengths = [n for n in (node.left, node.right) if isinstance(n, ast.Call) and last_name(n.func) == "len"]
    return "steps" if lengths and (left or right) else ""


def _is_loader(node: ast.expr) -> bool:
    text = ast.unparse(node).lower()
    return "loader" in text or text.endswith(("_dl", "batches", "_iter"))


def _of_name(node: ast.expr) -> Unit:
    name = last_name(node)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = str(node.slice.value)
    name = name.lower()
    return "epochs" if _EPOCHS.search(name) else "steps" if _STEPS.search(name) else ""
