"""Gradients are clipped behind the step that they are used in.

Why: the step has been taken with the gradients as they were, so the bound never holds.
Refuted by: clipping before the step as well, a backward between the step and the clipping, tests around one of them.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import Event, events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "clip-after-step"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        step: Event | None = None
        clipped = False
        seen = events(code, loop)
        # Gradients that are left over at the end of an iteration may be what the next one starts from.
        if not any(e.kind == "zero-grad" for e in seen):
            continue
        # Of several optimizers each may have its own clipping.
        several = len({e.objects for e in seen if e.kind in ("step", "scaler-step")}) > 1
        for event in seen:
            if event.kind == "backward":
                step, clipped = None, False
            elif event.kind == "clip":
                alike = step is not None and event.guards == step.guards and not (event.guarded and several)
                if step is not None and alike and not clipped:
                    text = "gradients are clipped here, behind the step that uses them: the bound never holds"
                    more = {"related": (step.call.site,)}
                    yield finding(SLUG, CATEGORY, event.call.module, event.call.node, text, **more)
                clipped = True
            elif event.kind in ("step", "scaler-step") and (
                step is None or step.guarded or not event.guarded
            ):
                step = event


_LOOP = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
{rest}
"""
_CLIP, _STEP = "        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "        opt.step()"
_EVERY = "        if x.sum() > 0:\n    "
BAD = (
    Example(_LOOP.format(rest=f"{_STEP}\n{_CLIP}  # found")),
    Example(_LOOP.format(rest=f"{_EVERY}{_STEP}\n    {_CLIP}  # found")),
    Example(
        _LOOP.format(rest=f"{_STEP}\n        print(x.shape)\n{_CLIP.replace('norm_', 'value_')}  # found")
    ),
)
GOOD = (
    Example(_LOOP.format(rest=f"{_EVERY}{_STEP}\n{_CLIP}")),
    Example(_LOOP.format(rest=f"{_CLIP}\n{_STEP}")),
    Example(_LOOP.format(rest=_STEP)),
    Example(_LOOP.format(rest=f"{_CLIP}\n{_STEP}\n{_CLIP}")),
    Example(_LOOP.format(rest=f"{_STEP}\n        net(x).pow(2).mean().backward()\n{_CLIP}\n{_STEP}")),
)
