"""An Accelerator runs the backward of a model that it never prepared.

Why: without prepare() nothing is moved, wrapped or divided: each process trains its own copy on all of the data.
Refuted by: prepare, prepare_model, a loop without the Accelerator.
Holds for: accelerate, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "accelerate-not-prepared"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

PREPARES = {"prepare", "prepare_model", "prepare_data_loader", "prepare_optimizer"}


def find(code: Code) -> Iterator[Finding]:
    if code.called_names() & PREPARES:
        return
    for call in code.methods("backward"):
        made = maker(code, call.module, call.receiver) if call.receiver is not None else None
        if made is not None and made.name in ("accelerate.Accelerator", "accelerate.accelerator.Accelerator"):
            text = "accelerator.backward runs and nothing was prepared: model, optimizer and loader have to go through prepare()"
            yield finding(SLUG, CATEGORY, made.module, made.node, text, related=(call.site,))


_LOOP = """
import torch
from accelerate import Accelerator

accelerator = Accelerator(){mark}

def fit(net, loader):
    opt = torch.optim.AdamW(net.parameters())
    {prepare}
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x), y)
        {backward}
        opt.step()
        opt.zero_grad()
"""
_OWN, _PLAIN = "accelerator.backward(loss)", "loss.backward()"
BAD = (
    Example(_LOOP.format(mark="  # found", prepare="pass", backward=_OWN)),
    Example("""
from accelerate import Accelerator

def main(model, opt, data):
    acc = Accelerator(mixed_precision="bf16")  # found
    model.to(acc.device)
    for batch in data:
        acc.backward(model(**batch).loss)
        opt.step()
"""),
)
GOOD = (
    Example(
        _LOOP.format(
            mark="", prepare="net, opt, loader = accelerator.prepare(net, opt, loader)", backward=_OWN
        )
    ),
    Example(_LOOP.format(mark="", prepare="pass", backward=_PLAIN)),
    Example("""
def step(accelerator, loss):
    accelerator.backward(loss)
"""),
)
