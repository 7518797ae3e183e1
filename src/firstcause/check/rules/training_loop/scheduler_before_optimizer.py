"""A schedule steps before the optimizer in the same iteration.

Why: the first learning rate of the schedule is skipped, and every later one comes a step early.
Refuted by: an optimizer step before it in the iteration, a schedule of another optimizer, a schedule that steps once an epoch.
Holds for: torch since 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import Event, events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

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


_HEAD = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=100)
"""
BAD = (
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
