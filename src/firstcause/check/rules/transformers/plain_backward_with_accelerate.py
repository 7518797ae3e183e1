"""A loss is backpropagated past the Accelerator that prepared the model.

Why: accelerator.backward scales the loss for fp16 and divides it for accumulation; without it both are wrong.
Refuted by: accelerator.backward, a loop on a model that no Accelerator prepared.
Holds for: accelerate, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "plain-backward-with-accelerate"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    prepared = [c for c in code.methods("prepare") if _of_accelerator(code, c)]
    if not prepared:
        return
    for call in code.methods("backward"):
        if call.receiver is None or call.node.args or _of_accelerator(code, call):
            continue
        if call.loop is not None and _in_same_program(call, prepared) and not _is_apart(code, call, prepared):
            text = "loss.backward() goes past the Accelerator; accelerator.backward(loss) scales and divides as prepared"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(prepared[0].site,))


def _of_accelerator(code: Code, call: Call) -> bool:
    made = maker(code, call.module, call.receiver) if call.receiver is not None else None
    return made is not None and made.name in ("accelerate.Accelerator", "accelerate.accelerator.Accelerator")


def _in_same_program(call: Call, prepared: list[Call]) -> bool:
    return any(p.module is call.module for p in prepared)


def _is_apart(code: Code, call: Call, prepared: list[Call]) -> bool:
    """Whether the loop's function makes the optimizer that it steps itself, and prepares nothing: a loop to compare with."""
    function = call.module.function(call.node)
    if function is None or any(p.module.function(p.node) is function for p in prepared):
        return False
    steps = [s for s in code.methods("step") if s.loop is not None and s.module.function(s.node) is function]
    made = [maker(code, s.module, s.receiver) for s in steps if s.receiver is not None]
    return bool(made) and all(
        m is not None and m.name.startswith("torch.optim.") and m.module.function(m.node) is function
        for m in made
    )


_LOOP = """
import torch
from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="fp16")

def fit(net, loader):
    opt = torch.optim.AdamW(net.parameters())
    net, opt, loader = accelerator.prepare(net, opt, loader)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x), y)
        {backward}{mark}
        opt.step()
        opt.zero_grad()
"""
BAD = (
    Example(_LOOP.format(backward="loss.backward()", mark="  # found")),
    Example("""
from accelerate import Accelerator

def main(model, opt, data):
    acc = Accelerator(gradient_accumulation_steps=4)
    model, opt, data = acc.prepare(model, opt, data)
    for batch in data:
        with acc.accumulate(model):
            model(**batch).loss.backward()  # found
            opt.step()
"""),
)
GOOD = (
    Example("""
import torch
from accelerate import Accelerator

def plainly(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        net.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()

def prepared(net, loader):
    accelerator = Accelerator()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt, loader = accelerator.prepare(net, opt, loader)
    for x, y in loader:
        opt.zero_grad()
        accelerator.backward(torch.nn.functional.mse_loss(net(x), y))
        opt.step()
"""),
    Example(_LOOP.format(backward="accelerator.backward(loss)", mark="")),
    Example("""
def fit(net, opt, loader):
    for x, y in loader:
        opt.zero_grad()
        ((net(x) - y) ** 2).mean().backward()
        opt.step()
"""),
    Example("""
from accelerate import Accelerator

accelerator = Accelerator()
print(accelerator.device)

def fit(net, opt, loader):
    for x, y in loader:
        ((net(x) - y) ** 2).mean().backward()
"""),
)
