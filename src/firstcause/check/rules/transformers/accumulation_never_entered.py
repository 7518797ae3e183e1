"""An Accelerator is told to accumulate gradients and no step is ever accumulated.

Why: gradient_accumulation_steps only acts inside of accelerator.accumulate(model): without it the loss is divided by the number
in backward, and the optimizer steps each time: the learning rate is in effect that much smaller.
Refuted by: accumulate(), steps that are counted by hand, a count of 1, a loop without accelerator.backward.
Holds for: accelerate, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "accumulation-never-entered"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    made_here = code.calls("accelerate.Accelerator")
    if not made_here or code.called_names() & {"accumulate", "no_sync"} or _counts_itself(code):
        return
    for made in made_here:
        steps = made.constant("gradient_accumulation_steps")
        if steps is None or not isinstance(steps.value, int) or steps.value < 2:
            continue
        backward = [
            c
            for c in code.methods("backward")
            if c.receiver is not None
            and getattr(maker(code, c.module, c.receiver), "node", None) is made.node
        ]
        if backward:
            text = (
                f"gradient_accumulation_steps={steps.value} and no accelerator.accumulate(model): "
                "the loss is divided and each step is taken"
            )
            yield finding(SLUG, CATEGORY, made.module, made.node, text, key="gradient_accumulation")


def _counts_itself(code: Code) -> bool:
    """Whether a step waits for a count of its own: what backward divides is then accumulated."""
    if any(a.attr == "sync_gradients" for m in code.modules for a in m.nodes(ast.Attribute)):
        return True
    return any(
        isinstance(part, ast.Mod)
        for call in code.methods("step")
        for parent in call.module.ancestors(call.node)
        if isinstance(parent, ast.If)
        for part in ast.walk(parent.test)
    )


_LOOP = """
import torch
from accelerate import Accelerator

acc = Accelerator({given}){mark}

def fit(net, opt, loader):
    net, opt, loader = acc.prepare(net, opt, loader)
    for x, y in loader:
        {around}
            acc.backward(torch.nn.functional.mse_loss(net(x), y))
            opt.step()
            opt.zero_grad()
"""
BAD = (
    Example(_LOOP.format(given="gradient_accumulation_steps=4", mark="  # found", around="if True:")),
    Example(
        _LOOP.format(
            given='mixed_precision="bf16", gradient_accumulation_steps=8',
            mark="  # found",
            around="if len(x):",
        )
    ),
)
GOOD = (
    Example(_LOOP.format(given="gradient_accumulation_steps=4", mark="", around="with acc.accumulate(net):")),
    Example(_LOOP.format(given="gradient_accumulation_steps=1", mark="", around="if True:")),
    Example(_LOOP.format(given="", mark="", around="if True:")),
    Example(
        _LOOP.format(given="gradient_accumulation_steps=4", mark="", around="if True:").replace(
            "opt.step()", "if len(x) % 4 == 0: opt.step()"
        )
    ),
)
