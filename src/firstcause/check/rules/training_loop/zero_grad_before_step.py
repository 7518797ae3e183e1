"""Gradients are cleared between backward and the optimizer's step.

Why: the step sees no gradient (``None`` is skipped), so nothing is ever learned, without an error.
Refuted by: another backward between the clearing and the step, another optimizer's gradients cleared.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import Event, events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "zero-grad-before-step"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        last: Event | None = None
        backward: Event | None = None
        for event in events(code, loop):
            if event.kind == "backward":
                last, backward = None, event
            elif (
                event.kind == "zero-grad" and backward is not None and set(event.guards) <= {*backward.guards}
            ):
                last = event
            elif event.kind in ("step", "scaler-step"):
                given = event.call.node.args or event.call.node.keywords
                closure = event.kind == "step" and bool(given)
                # The step of another branch, or one whose closure makes its gradients, is another story.
                follows = last is not None and last.guards == event.guards[: len(last.guards)]
                same = last is not None and event.objects and last.objects == event.objects
                if last is not None and follows and same and not closure:
                    text = "gradients are cleared here, after backward and before the optimizer's step, which finds none"
                    yield finding(
                        SLUG, CATEGORY, last.call.module, last.call.node, text, related=(event.call.site,)
                    )
                last = backward = None


BAD = (
    Example("""
import torch
from accelerate import Accelerator

def fit(net, data):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    net, optimizer, loader = accelerator.prepare(net, optimizer, torch.utils.data.DataLoader(data))
    for batch in loader:
        with accelerator.accumulate(net):
            accelerator.backward(net(batch).mean())
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.zero_grad()  # found
            optimizer.step()
"""),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.zero_grad()  # found
        opt.step()
"""),
    Example("""
import torch

class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def update(self, loss):
        loss.backward()
        self.optimizer.zero_grad()  # found
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()

    def fit(self, loader):
        for x, y in loader:
            self.update((self.net(x) - y).pow(2).mean())
"""),
    Example("""
import torch

def update(net, opt, batch):
    net(batch).mean().backward()
    opt.zero_grad()  # found
    opt.step()

def fit(net, env):
    opt = torch.optim.Adam(net.parameters())
    seen = []
    while not env.over():
        seen.append(env.step())
        if len(seen) > 64:
            update(net, opt, torch.stack(seen[-64:]))
"""),
)
GOOD = (
    Example("""
import torch
from accelerate import Accelerator

def fit(net, data):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    net, optimizer, loader = accelerator.prepare(net, optimizer, torch.utils.data.DataLoader(data))
    for batch in loader:
        accelerator.backward(net(batch).mean())
        optimizer.step()
        optimizer.zero_grad()
"""),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.Adam(net.parameters())
    for n, x in enumerate(loader):
        loss = net(x).mean()
        loss.backward()
        if not torch.isfinite(loss):
            opt.zero_grad()
        opt.step()
"""),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""),
    Example("""
import torch

def fit(net, critic, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    other = torch.optim.SGD(critic.parameters(), lr=0.1)
    for x in loader:
        critic(net(x)).mean().backward()
        other.zero_grad()
        opt.step()
        opt.zero_grad()
"""),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
        opt.zero_grad()
"""),
)
