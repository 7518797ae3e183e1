"""Gradients are clipped while they still carry the scaler's factor.

Why: a norm of 1 is compared with gradients that are up to 65,536 times too large, so every step is cut to almost nothing.
Refuted by: unscale_ of the same optimizer before the clipping, a scaler that is switched off.
Holds for: torch, all versions with a GradScaler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "clip-before-unscale"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        seen = events(code, loop)
        scaled = False
        for event in seen:
            if event.kind == "scale":
                scaled = True
            elif event.kind in ("unscale", "scaler-update", "scaler-step"):
                scaled = False
            elif event.kind == "clip" and scaled:
                text = (
                    "gradients are clipped before scaler.unscale_: they still carry the loss scale, 65,536 at the start, "
                    "so the bound is that much too small"
                )
                yield finding(SLUG, CATEGORY, event.call.module, event.call.node, text)


BAD = (
    Example(
        """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        opt.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # found
        scaler.step(opt)
        scaler.update()
""",
        fixed="""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        opt.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # found
        scaler.step(opt)
        scaler.update()
""",
    ),
    Example("""
import torch
from torch.cuda.amp import GradScaler
from torch.nn.utils import clip_grad_norm_

class Fit:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.AdamW(net.parameters())
        self.scaler = GradScaler()

    def step(self):
        clip_grad_norm_(self.net.parameters(), 1.0)  # found
        self.scaler.unscale_(self.opt)
        self.scaler.step(self.opt)
        self.scaler.update()
        self.opt.zero_grad()

    def run(self, loader):
        for i, batch in enumerate(loader):
            self.scaler.scale(self.net(batch).mean()).backward()
            if i % 2:
                self.step()
"""),
)
GOOD = (
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
"""),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        opt.zero_grad()
        net(x).mean().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
"""),
    Example("""
import torch

def fit(accelerator, net, opt, loader):
    for x in loader:
        accelerator.backward(net(x).mean())
        accelerator.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
"""),
)
