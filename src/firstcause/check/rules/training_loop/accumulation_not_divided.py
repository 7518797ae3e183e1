"""Micro-batches are accumulated and the loss is not divided by their number.

Why: the gradient is the sum over the micro-batches, so the learning rate is in effect that many times larger.
Refuted by: a division or a factor on the way to backward, a loss that sums over samples, gradients divided before the step.
Holds for: torch; libraries that divide themselves (accelerate with accumulate, Trainer, Lightning) are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, Loop, finding
from firstcause.check.events import Event, events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "accumulation-not-divided"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        seen = events(code, loop)
        step = next((e for e in seen if e.kind in ("step", "scaler-step")), None)
        backward = next((e for e in seen if e.kind == "backward" and not e.guarded), None)
        if step is None or backward is None or not step.guarded or backward.call.node.args:
            # What is given the loss, as accelerate's backward, may divide it.
            continue
        every = _every(code, loop, step)
        clears = [e for e in seen if e.kind == "zero-grad"]
        if every is None or any(not e.guarded for e in clears) or _divided(code, loop, backward):
            continue
        text = (
            f"the optimizer steps once in {every} iterations and the loss is not divided by {every}: gradients are the sum of "
            f"{every} micro-batches, as with a learning rate {every} times larger"
        )
        yield finding(
            SLUG, CATEGORY, backward.call.module, backward.call.node, text, related=(step.call.site,)
        )


def _every(code: Code, loop: Loop, step: Event) -> str | None:
    """The number in the test ``i % n`` around the step, as the code writes it; its value where that is known."""
    if step.call.module is not loop.module:
        return None
    for parent in loop.module.ancestors(step.call.node):
        if parent is loop.node:
            return None
        test = parent.test if isinstance(parent, ast.If) else None
        for node in ast.walk(test) if test is not None else ():
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
                known = code.constant(loop.module, node.right)
                if known is not None and known.value == 1:
                    return None
                return str(known.value) if known is not None else ast.unparse(node.right)
    return None


def _divided(code: Code, loop: Loop, backward: Event) -> bool:
    """A division, a factor or a sum anywhere between the loss and backward, or of gradients before the step."""
    texts = [n for n in loop.nodes if isinstance(n, (ast.Assign, ast.AugAssign, ast.Call, ast.BinOp))]
    for node in texts:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Div, ast.Mult)):
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("div_", "mul_", "div", "sum")
        ):
            return True
        if isinstance(node, ast.keyword) and node.arg == "reduction":
            return True
    receiver = backward.call.receiver
    if (
        isinstance(receiver, ast.Call)
        and isinstance(receiver.func, ast.Attribute)
        and receiver.func.attr == "scale"
        and receiver.args
    ):
        receiver = receiver.args[0]
    if receiver is None or backward.call.module is not loop.module:
        return True
    origins = code.origins(loop.module, receiver)
    return (
        not origins
        or any(isinstance(o.node, (ast.BinOp, ast.Name)) or _is_sum(o.node) for o in origins)
        or _scales(receiver)
    )


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and any(k.arg == "reduction" for k in node.keywords)


def _scales(node: ast.expr) -> bool:
    return any(isinstance(n, ast.BinOp) for n in ast.walk(node))


_LOOP = """
import torch

def fit(net, loader, accum=8):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(net(x), y){divided}
        loss.backward(){mark}
        if (i + 1) % {every} == 0:
            opt.step()
            opt.zero_grad()
"""
BAD = (
    Example(_LOOP.format(divided="", mark="  # found", every="accum")),
    Example(_LOOP.format(divided="", mark="  # found", every="4")),
)
GOOD = (
    Example("""
import torch
from accelerate import Accelerator

def fit(net, data):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt, loader = accelerator.prepare(net, opt, torch.utils.data.DataLoader(data))
    for i, x in enumerate(loader):
        loss = net(x).mean()
        accelerator.backward(loss)
        if (i + 1) % 4 == 0:
            opt.step()
            opt.zero_grad()
"""),
    Example("""
import torch

class Fitter:
    def __init__(self, net, every):
        self.net = net
        self.every = every
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        self.scaler = torch.amp.GradScaler()

    def fit(self, loader):
        for i, (x, y) in enumerate(loader):
            loss = self.shared(torch.nn.functional.mse_loss(self.net(x), y))
            self.learn(loss, i)

    def learn(self, loss, i):
        self.scaler.scale(loss).backward()
        if i % self.every == 0:
            self.scaler.step(self.opt)
            self.scaler.update()
            self.opt.zero_grad()

    def shared(self, loss):
        return loss / self.every
"""),
    Example(_LOOP.format(divided=" / accum", mark="", every="accum")),
    Example(_LOOP.format(divided="", mark="", every="1")),
    Example("""
import torch

def fit(net, loader, accum=8):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss = loss / accum
        loss.backward()
        if (i + 1) % accum == 0:
            opt.step()
            opt.zero_grad()
"""),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        if i % 10 != 9:
            opt.step()
"""),
)
