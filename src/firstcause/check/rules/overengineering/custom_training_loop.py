"""A loop of its own where a library's trainer was asked for.

Why: the trainer does it with its tests, its resuming and its settings; each part written anew is one more to be wrong.
Refuted by: a brief that asks for an own loop, or names no trainer; a trainer that drives the run as well.
Holds for: transformers, trl, lightning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import events, training_loops
from firstcause.check.facts.framework import framework_facts
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "custom-training-loop"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

TRAINERS = {"trainer", "trl", "lightning", "hf trainer", "transformers trainer"}


def find(code: Code) -> Iterator[Finding]:
    asked = [
        i for i in code.asked("framework") if i.polarity == "require" and str(i.value).lower() in TRAINERS
    ]
    driven = {f.value for f in framework_facts(code)} & {"trainer", "trl", "lightning"}
    if not asked or driven:
        return
    for loop in training_loops(code)[:1]:
        if any(e.kind == "backward" for e in events(code, loop)):
            text = f"a training loop of its own where {asked[0].value} was asked for (“{asked[0].sentence.strip()[:80]}”)"
            more = {"key": "framework", "asked": str(asked[0].value), "got": "custom_loop"}
            yield finding(SLUG, CATEGORY, loop.module, loop.node, text, **more)


_LOOP = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:{mark}
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""
BAD = (
    Example(_LOOP.format(mark="  # found"), asked={"framework": "trainer"}),
    Example(_LOOP.format(mark="  # found"), asked={"framework": "trl"}),
)
GOOD = (
    Example(_LOOP.format(mark=""), asked={"framework": "pytorch"}),
    Example(_LOOP.format(mark="")),
    Example(
        "from transformers import Trainer\n\nTrainer(model=None).train()\n", asked={"framework": "trainer"}
    ),
)
