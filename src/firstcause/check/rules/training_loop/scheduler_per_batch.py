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
from firstcause.check.lightning_schedules import Handed, handed_schedules, trainers_epochs
from firstcause.check.rule import Example
from firstcause.check.schedule_lengths import LENGTHS, Unit, length_of, parts_of, unit_of
from firstcause.schema.finding import Category, Finding
from firstcause.source.frames import Value

SLUG = "scheduler-per-batch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Those that people size in epochs.
EPOCHS = {
    "torch.optim.lr_scheduler.CosineAnnealingLR": ("T_max", 1),
    "torch.optim.lr_scheduler.StepLR": ("step_size", 1),
    "torch.optim.lr_scheduler.MultiStepLR": ("milestones", 1),
    "torch.optim.lr_scheduler.LinearLR": ("total_iters", 3),
    "torch.optim.lr_scheduler.PolynomialLR": ("total_iters", 1),
    "torch.optim.lr_scheduler.OneCycleLR": ("total_steps", 2),
    "transformers.get_linear_schedule_with_warmup": ("num_training_steps", 2),
    "transformers.get_cosine_schedule_with_warmup": ("num_training_steps", 2),
    "transformers.get_scheduler": ("num_training_steps", 3),
}
# Those that end at a part of the training and start anew, or fall then.
IN_PARTS = ("StepLR", "MultiStepLR")
# What counts steps by its own signature, if nobody gives it epochs.
IN_STEPS = ("OneCycleLR", "transformers.")
SIZED_IN_STEPS = tuple(name for name in LENGTHS if not name.endswith(IN_PARTS))
LARGEST_FALL = 0.5
# A schedule of steps is at least so many times as long as the training has epochs.
MANY = 10
HOPS = 4


def find(code: Code) -> Iterator[Finding]:
    for made in code.calls(*SIZED_IN_STEPS):
        size = length_of(made)
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
    yield from _by_lightning(code)


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


def _by_lightning(code: Code) -> Iterator[Finding]:
    for handed in handed_schedules(code):
        counted = {(p, u) for p in parts_of(code, handed.made) if (u := _unit(code, p))}
        if len({u for _, u in counted}) != 1:
            continue
        part, unit = sorted(counted, key=lambda c: c[0].site.line)[-1]
        size = length_of(part)
        shown = ast.unparse(size.node) if size is not None else ""
        if unit == "epochs" and handed.interval == "step":
            text = (
                f"this schedule is sized in epochs ({shown}) at line {part.site.line} and Lightning steps it in every batch: it "
                'is over after as many batches; interval "epoch", or a size in steps: self.trainer.estimated_stepping_batches'
            )
        elif unit == "steps" and handed.interval == "epoch":
            text = (
                f"this schedule is sized in steps ({shown}) at line {part.site.line} and Lightning steps it once an epoch, its "
                'default: it never gets further than its first few steps; hand it over with "interval": "step"'
            )
        else:
            continue
        yield _of_handed(handed, part, text)


def _of_handed(handed: Handed, part: Call, text: str) -> Finding:
    return finding(
        SLUG, CATEGORY, handed.module, handed.place, text, argument="interval", related=(part.site,)
    )


def _unit(code: Code, made: Call) -> Unit:
    """Whether a schedule surely counts epochs or steps."""
    size = length_of(made)
    if size is None:
        return ""
    per_epoch = made.argument("steps_per_epoch", 4) if made.name.endswith("OneCycleLR") else None
    if per_epoch is not None and made.argument("total_steps", 2) is None:
        known = code.constant(per_epoch.module, per_epoch.node)
        return "steps" if known is None or (isinstance(known.value, int) and known.value >= MANY) else ""
    told = unit_of(code, size)
    given = trainers_epochs(code)
    if told or not given:
        return told
    if all(_is_of_epochs(code, made, size, epochs) for epochs in given):
        return "epochs"
    own = code.constant(size.module, size.node)
    counts = [code.constant(e.module, e.node) for e in given]
    most = max((c.value for c in counts if c is not None and isinstance(c.value, int)), default=0)
    long = own is not None and isinstance(own.value, int) and own.value >= MANY * most > 0
    is_of_steps = made.name.endswith(IN_STEPS[0]) or made.name.startswith(IN_STEPS[1])
    return "steps" if long and is_of_steps and None not in counts else ""


def _count(loop: Loop) -> Value | None:
    """How often ``for … in range(n)`` goes."""
    node = loop.node
    called = node.iter if isinstance(node, ast.For) else None
    while isinstance(called, ast.Call) and getattr(called.func, "id", "") in ("tqdm", "list") and called.args:
        called = called.args[0]
    if not isinstance(called, ast.Call) or getattr(called.func, "id", "") not in ("range", "trange"):
        return None
    if len(called.args) == 2 and ast.unparse(called.args[0]) != "0":
        first, end = called.args
        # From 1 to n + 1 are n.
        if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Add):
            end = end.left if ast.unparse(end.right) == ast.unparse(first) else end
        return Value(loop.module, end)
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
    if not made.name.endswith(IN_PARTS):
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
_LIGHTNING = """
import lightning as L
import torch
from transformers import get_cosine_schedule_with_warmup

class Net(L.LightningModule):
    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=1e-3)
        {schedule}

def main(loader):
    L.Trainer(max_epochs=60).fit(Net(), loader)
"""


def _lightning(*lines: str) -> Example:
    return Example(_LIGHTNING.replace("{schedule}", "\n        ".join(lines)))


_COSINE = "sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max={})"
_CYCLE = "sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-3, total_steps={})"
_EACH_BATCH = 'return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}'
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
        (_HEAD + "    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)" + _LOOP).replace(
            "range(epochs)", "range(1, epochs + 1)"
        )
        + "            sched.step()  # found\n"
    ),
    Example(
        (_HEAD + "    sched = torch.optim.lr_scheduler.StepLR(opt, 30)" + _LOOP).replace(
            "range(epochs)", "range(90)"
        )
        + "            sched.step()  # found\n"
    ),
    Example(
        _HEAD
        + "    sched = torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=epochs)"
        + _LOOP
        + "            sched.step()  # found\n"
    ),
    _lightning(
        _COSINE.format("self.trainer.max_epochs"),
        'return {"optimizer": opt, "lr_scheduler": {',
        '    "scheduler": sched,',
        '    "interval": "step",  # found',
        "}}",
    ),
    _lightning(_COSINE.format(60), f"{_EACH_BATCH}  # found"),
    _lightning(
        "warm = torch.optim.lr_scheduler.LinearLR(opt, 0.1, total_iters=self.hparams.warmup_epochs)",
        _COSINE.format("self.hparams.epochs - self.hparams.warmup_epochs"),
        "both = torch.optim.lr_scheduler.SequentialLR(opt, [warm, sched], milestones=[self.hparams.warmup_epochs])",
        'return [opt], [{"scheduler": both, "interval": "step"}]  # found',
    ),
    _lightning(
        "total = self.trainer.estimated_stepping_batches",
        "sched = get_cosine_schedule_with_warmup(opt, int(0.1 * total), total)",
        'return {"optimizer": opt, "lr_scheduler": sched}  # found',
    ),
    _lightning(
        "steps = len(self.trainer.datamodule.train_dataloader()) * self.trainer.max_epochs",
        _CYCLE.format("steps"),
        "return [opt], [sched]  # found",
    ),
    _lightning(
        _CYCLE.format("20_000"),
        'return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "monitor": "loss"}}  # found',
    ),
    _lightning(
        "warmup = self.hparams.warmup_steps",
        "sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1.0, (n + 1) / warmup))",
        "return [opt], [sched]  # found",
    ),
)
GOOD = (
    _lightning(
        _COSINE.format("self.trainer.max_epochs"),
        'return {"optimizer": opt, "lr_scheduler": {"scheduler": sched}}',
    ),
    _lightning(_COSINE.format("self.trainer.estimated_stepping_batches"), _EACH_BATCH),
    _lightning(_COSINE.format("self.trainer.max_epochs * self.steps_per_epoch"), _EACH_BATCH),
    _lightning(
        _COSINE.format("self.hparams.epochs"),
        'config = {"scheduler": sched, "interval": "step", "frequency": self.hparams.steps_per_epoch}',
        "return [opt], [config]",
    ),
    _lightning(
        _CYCLE.format("self.trainer.estimated_stepping_batches"),
        'config = {"scheduler": sched}',
        'config["interval"] = "step"',
        'return {"optimizer": opt, "lr_scheduler": config}',
    ),
    _lightning(
        "warmup = self.hparams.warmup_epochs",
        "sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1.0, (n + 1) / warmup))",
        "return [opt], [sched]",
    ),
    _lightning(
        _CYCLE.format("self.total_steps // self.steps_per_epoch"),
        'return {"optimizer": opt, "lr_scheduler": sched}',
    ),
    _lightning(
        "self.automatic_optimization = False",
        _COSINE.format("self.trainer.max_epochs"),
        _EACH_BATCH,
    ),
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
