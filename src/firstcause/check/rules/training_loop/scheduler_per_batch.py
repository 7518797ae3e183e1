"""A schedule is sized in steps and stepped once an epoch, or sized in epochs and stepped in every batch.

Why: the one ends before it has begun, most often within its warm-up; the other is over after as many batches as there should be
epochs, and a cosine then goes up and down again.
Refuted by: a size in the unit in which it is stepped, a step behind a test, a trainer that steps it.
Holds for: torch, transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.events import around, events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.frames import Value

SLUG = "scheduler-per-batch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The argument that says how long the schedule is, by name and position.
SIZES = {
    "torch.optim.lr_scheduler.OneCycleLR": (("total_steps", 2), ("steps_per_epoch", 4)),
    "torch.optim.lr_scheduler.CosineAnnealingLR": (("T_max", 1),),
    "torch.optim.lr_scheduler.LinearLR": (("total_iters", 3),),
    "transformers.get_linear_schedule_with_warmup": (("num_training_steps", 2),),
    "transformers.get_cosine_schedule_with_warmup": (("num_training_steps", 2),),
    "transformers.get_polynomial_decay_schedule_with_warmup": (("num_training_steps", 2),),
    "transformers.get_scheduler": (("num_training_steps", 3),),
}
# Those that people size in epochs.
EPOCHS = {
    "torch.optim.lr_scheduler.CosineAnnealingLR": ("T_max", 1),
    "torch.optim.lr_scheduler.StepLR": ("step_size", 1),
    "torch.optim.lr_scheduler.MultiStepLR": ("milestones", 1),
}
LARGEST_FALL = 0.5
HOPS = 4


def find(code: Code) -> Iterator[Finding]:
    for made in code.calls(*SIZES):
        size = next((v for n, p in SIZES[made.name] if (v := made.argument(n, p)) is not None), None)
        counted = _counted(code, size, HOPS) if size is not None else ""
        if not counted:
            continue
        steps = [c for c in code.methods("step") if _is_of(code, c, made)]
        outer = [_around_training(code, c) for c in steps]
        if steps and all(outer):
            text = (
                f"this schedule is sized in steps ({counted}) and stepped once an epoch at line {steps[0].site.line}: it never "
                "gets further than its first few steps; step it behind optimizer.step()"
            )
            yield finding(SLUG, CATEGORY, made.module, made.node, text, related=(steps[0].site,))
    yield from _in_every_batch(code)


def _in_every_batch(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        stepped = [e for e in events(code, loop) if e.kind == "schedule" and not e.guarded]
        epochs = next((n for outer in around(code, loop) if (n := _count(outer)) is not None), None)
        if not stepped or epochs is None or _count(loop) is not None:
            continue
        for made in code.calls(*EPOCHS):
            step = next((e for e in stepped if e.objects == {made.node}), None)
            size = made.argument(*EPOCHS[made.name])
            if step is not None and size is not None and _is_of_epochs(code, made, size, epochs):
                text = (
                    f"this schedule is sized in epochs ({made.module.segment(size.node)}) and stepped in every batch at line "
                    f"{step.call.site.line}: it is over after as many batches; step it behind the loop of batches"
                )
                yield finding(SLUG, CATEGORY, step.call.module, step.call.node, text, related=(made.site,))


def _count(loop: Loop) -> Value | None:
    """How often ``for … in range(n)`` goes."""
    node = loop.node
    called = node.iter if isinstance(node, ast.For) else None
    while isinstance(called, ast.Call) and getattr(called.func, "id", "") in ("tqdm", "list") and called.args:
        called = called.args[0]
    if not isinstance(called, ast.Call) or getattr(called.func, "id", "") not in ("range", "trange"):
        return None
    return Value(loop.module, called.args[-1]) if 1 <= len(called.args) <= 2 else None


def _is_of_epochs(code: Code, made: Call, size: Value, epochs: Value) -> bool:
    """Whether a size is the number of epochs, or, where the rate falls to half or less, a part of it."""
    if {o.node for o in code.origins(size.module, size.node)} & {
        o.node for o in code.origins(epochs.module, epochs.node)
    }:
        return True
    known, whole = code.constant(size.module, size.node), code.constant(epochs.module, epochs.node)
    if known is None or whole is None or not isinstance(whole.value, int):
        return False
    if made.name.endswith("CosineAnnealingLR"):
        return bool(known.value == whole.value > 1)
    gamma = made.constant("gamma", 2)
    last = max(known.value, default=0) if isinstance(known.value, list) else known.value
    falls = gamma is None or (isinstance(gamma.value, float) and gamma.value <= LARGEST_FALL)
    return isinstance(last, int) and 1 < last <= whole.value and falls and not made.may_have("last_epoch")


def _counted(code: Code, value: Value, hops: int) -> str:
    """The ``len(…)`` of a loader that a size is computed from; empty where there is none, or it is divided away."""
    if isinstance(value.node, ast.Call) and ast.unparse(value.node.func) in (
        "int",
        "math.ceil",
        "round",
        "max",
    ):
        return next((c for a in value.node.args if (c := _counted(code, value.at(a), hops))), "")
    if isinstance(value.node, ast.Call):
        is_length = ast.unparse(value.node.func) == "len" and bool(value.node.args)
        given = ast.unparse(value.node.args[0]).lower() if is_length else ""
        return ast.unparse(value.node) if "loader" in given or given.endswith(("_dl", "batches")) else ""
    if isinstance(value.node, ast.BinOp):
        found = [_counted(code, value.at(n), hops) for n in (value.node.left, value.node.right)]
        return next(filter(None, found), "")
    if hops and isinstance(value.node, (ast.Name, ast.Attribute)):
        origins = [o for o in code.origins(value.module, value.node) if o.node is not value.node]
        found = [
            _counted(code, Value(o.module, o.node), hops - 1) for o in origins if isinstance(o.node, ast.expr)
        ]
        return found[0] if found and all(found) else ""
    return ""


def _is_of(code: Code, call: Call, made: Call) -> bool:
    if call.receiver is None:
        return False
    return {o.node for o in code.origins(call.module, call.receiver)} == {made.node}


def _around_training(code: Code, step: Call) -> Loop | None:
    """The loop of batches that lies before a step in the step's own loop, and not around it."""
    loop = step.loop
    if loop is None:
        return None
    inner = [o for o in training_loops(code) if loop.holds(o.node)]
    # A loop over the parts of one batch, such as its accumulation, is no epoch.
    whole = [o for o in inner if isinstance(o.node, ast.For) and _is_epoch(o)]
    stepping = any(e.kind in ("step", "scaler-step") and e.call.loop == loop for e in events(code, loop))
    return whole[0] if whole and not stepping else None


def _is_epoch(loop: Loop) -> bool:
    assert isinstance(loop.node, (ast.For, ast.AsyncFor))
    return "loader" in ast.unparse(loop.node.iter).lower()


_HEAD = """
import torch
from torch.optim.lr_scheduler import OneCycleLR
from transformers import get_linear_schedule_with_warmup

def fit(net, loader, epochs):
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
"""
_LOOP = """
    for epoch in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
"""
BAD = (
    Example(
        _HEAD
        + "    sched = OneCycleLR(opt, 1e-3, epochs=epochs, steps_per_epoch=len(loader))  # found"
        + _LOOP
        + "        sched.step()\n"
    ),
    Example(
        _HEAD
        + "    total = len(loader) * epochs\n    sched = get_linear_schedule_with_warmup(opt, total // 10, total)  # found"
        + _LOOP
        + "        print(epoch)\n        sched.step()\n"
    ),
    Example(
        _HEAD
        + "    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)"
        + _LOOP
        + "            sched.step()  # found\n"
    ),
    Example(
        (_HEAD + "    sched = torch.optim.lr_scheduler.StepLR(opt, 30)" + _LOOP).replace(
            "range(epochs)", "range(90)"
        )
        + "            sched.step()  # found\n"
    ),
)
GOOD = (
    Example(
        _HEAD
        + "    sched = OneCycleLR(opt, 1e-3, epochs=epochs, steps_per_epoch=len(loader))"
        + _LOOP
        + "            sched.step()\n"
    ),
    Example(
        _HEAD
        + "    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)"
        + _LOOP
        + "        sched.step()\n"
    ),
    Example(
        (_HEAD + "    sched = torch.optim.lr_scheduler.StepLR(opt, 2000)" + _LOOP).replace(
            "range(epochs)", "range(90)"
        )
        + "            sched.step()\n"
    ),
    Example(
        _HEAD
        + "    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs * len(loader))"
        + _LOOP
        + "            sched.step()\n"
    ),
    Example(
        _HEAD + "    sched = OneCycleLR(opt, 1e-3, total_steps=epochs)" + _LOOP + "        sched.step()\n"
    ),
)
