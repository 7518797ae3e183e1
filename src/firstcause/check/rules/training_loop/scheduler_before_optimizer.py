"""A schedule steps before the optimizer in the same iteration.

Why: the first learning rate of the schedule is skipped, and every later one comes a step early.
Refuted by: an optimizer step before it in the iteration, a schedule of another optimizer, a schedule that steps once an epoch.
Holds for: torch since 1.1.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.events import Event, events, training_loops
from firstcause.check.prepared import stepped
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "scheduler-before-optimizer"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        waiting: Event | None = None
        stepped = False
        for event in events(code, loop):
            if event.kind == "schedule" and not stepped and not event.guarded:
                waiting = waiting or event
            elif event.kind in ("step", "scaler-step"):
                stepped = True
                if waiting is not None and not event.guarded:
                    text = "the schedule steps before the optimizer: the first learning rate is never used"
                    more = {"related": (event.call.site,)}
                    yield finding(SLUG, CATEGORY, waiting.call.module, waiting.call.node, text, **more)
                waiting = None
    yield from _of_prepared(code)


def _of_prepared(code: Code) -> Iterator[Finding]:
    """The same for what went through ``accelerator.prepare``, and for schedules of transformers."""
    seen = {e.call.node for loop in training_loops(code) for e in events(code, loop) if e.kind == "schedule"}
    for call in code.methods("step"):
        if call.node in seen or call.loop is None or call.receiver is None:
            continue
        optimizer = _next_step(code, call)
        if optimizer is not None and _is_schedule(code, call):
            text = "the schedule steps before the optimizer: the first learning rate is never used"
            yield finding(
                SLUG, CATEGORY, call.module, call.node, text, related=(call.module.site(optimizer),)
            )


def _is_schedule(code: Code, call: Call) -> bool:
    """A schedule of torch or transformers, or what nothing is known of but its name, as a recipe's own registry makes it."""
    assert call.receiver is not None
    return stepped(code, call.module, call.receiver) == "schedule" or (
        "sched" in last_name(call.receiver).lower() and not call.node.args and not call.node.keywords
    )


def _is_optimizer(code: Code, module: Module, node: ast.expr) -> bool:
    return stepped(code, module, node) == "optimizer" or "optim" in last_name(node).lower()


def _next_step(code: Code, call: Call) -> ast.Call | None:
    """The step of an optimizer behind a call in the same block, where none stands before it."""
    statement = call.module.statement(call.node)
    parent = call.module.parents.get(statement) if statement is not None else None
    block = next(
        (b for n in ("body", "orelse") if isinstance(b := getattr(parent, n, None), list) and statement in b),
        [],
    )
    calls = [
        s.value
        for s in block
        if isinstance(s, ast.Expr)
        and isinstance(s.value, ast.Call)
        and isinstance(s.value.func, ast.Attribute)
        and s.value.func.attr == "step"
    ]
    steps = [c for c in calls if _is_optimizer(code, call.module, c.func.value)]  # type: ignore[attr-defined]
    # Whatever else steps before it may be an optimizer.
    before = any(c.lineno < call.node.lineno and not c.args and not c.keywords for c in calls)
    is_first = bool(steps) and steps[0].lineno > call.node.lineno and not before
    return steps[0] if is_first else None


_HEAD = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=100)
"""
_PREPARED = """
import torch
from accelerate import Accelerator
from transformers import get_linear_schedule_with_warmup

def main(net, loader):
    accelerator = Accelerator()
    opt = torch.optim.AdamW(net.parameters())
    sched = get_linear_schedule_with_warmup(opt, 10, 100)
    net, opt, loader, sched = accelerator.prepare(net, opt, loader, sched)
    for batch in loader:
        accelerator.backward(net(**batch).loss)
{rest}
        opt.zero_grad()
"""
_UNKNOWN = """
class Recipe:
    def setup(self, cfg):
        self._optimizer = self._setup_optimizer(cfg)
        self._lr_scheduler = self._setup_lr_scheduler(cfg)

    def train(self):
        for batch in self._dataloader:
            self._loss_step(batch).backward()
            {first}
            {then}
"""
BAD = (
    Example(_UNKNOWN.format(first="self._lr_scheduler.step()  # found", then="self._optimizer.step()")),
    Example(_PREPARED.format(rest="        sched.step()  # found\n        opt.step()")),
    Example(
        _HEAD
        + """
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        sched.step()  # found
        opt.step()
"""
    ),
    Example("""
import torch
from torch.optim.lr_scheduler import StepLR

def fit(net, loader):
    opt = torch.optim.Adam(net.parameters())
    decay = StepLR(opt, 10)
    for epoch in range(3):
        decay.step()
        for x in loader:
            decay.step()  # found
            opt.zero_grad()
            net(x).mean().backward()
            opt.step()
"""),
)
GOOD = (
    Example(_UNKNOWN.format(first="self._optimizer.step()", then="self._lr_scheduler.step()")),
    Example(_UNKNOWN.format(first="x = self.scheduler.step(noise, t, x)", then="self._optimizer.step()")),
    Example(
        _UNKNOWN.format(
            first="self.opt_a.step()\n            self.sched_a.step()", then="self.optim_b.step()"
        )
    ),
    Example(_PREPARED.format(rest="        opt.step()\n        sched.step()")),
    Example(_PREPARED.format(rest="        if batch:\n            sched.step()\n        opt.step()")),
    Example(
        _HEAD
        + """
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
        sched.step()
"""
    ),
    Example(
        _HEAD
        + """
    for epoch in range(3):
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
        sched.step()
"""
    ),
    Example(
        _HEAD
        + """
    for i, (x, y) in enumerate(loader):
        if i:
            sched.step()
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""
    ),
)
