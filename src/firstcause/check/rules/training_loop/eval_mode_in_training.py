"""Evaluation mode is set inside the epoch loop and training mode only before it.

Why: from the second epoch on the model trains in evaluation mode: no dropout, normalisation with stale statistics.
Refuted by: train() in the loop or in what it calls, a model without dropout and normalisation, another object's mode.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.events import Event, around, events, training_loops
from firstcause.check.modes import has_modes, trained_by
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "eval-mode-in-training"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        for outer in [loop, *around(code, loop)][:3]:
            seen = events(code, outer)
            switched = [e for e in seen if e.kind == "eval" and e.objects]
            back = frozenset().union(*(e.objects for e in seen if e.kind == "train"))
            trained = frozenset().union(*(e.objects for e in seen if e.kind in ("step", "scaler-step")))
            for event in switched:
                if event.objects & back or not has_modes(code, event.objects):
                    continue
                if not any(trained_by(code, o) & event.objects for o in trained):
                    continue
                text = (
                    "eval() in this loop and no train() in it: from the second round on the model trains in evaluation mode, "
                    "without dropout and with frozen statistics"
                )
                before = _before(code, outer, event)
                if before is not None:
                    text = (
                        "train() stands before this loop and eval() is called in it: from the second round on the model trains "
                        "in evaluation mode, without dropout and with frozen statistics"
                    )
                shown = before or event.call
                related = (event.call.site,) if before is not None else ()
                yield finding(SLUG, CATEGORY, shown.module, shown.node, text, related=related)


def _before(code: Code, outer: Loop, event: Event) -> Call | None:
    """The train() in front of a loop, where eval() is called in another function: it is what has to be moved."""
    within = outer.module.function(outer.node)
    if event.call.module is outer.module and event.call.module.function(event.call.node) is within:
        return None
    found = [
        c
        for c in code.methods("train")
        if c.module is outer.module
        and c.receiver is not None
        and c.module.function(c.node) is within
        and c.node.lineno < outer.node.lineno
        and {o.node for o in code.origins(c.module, c.receiver)} & event.objects
    ]
    return found[-1] if found else None


_BODY = """
import torch
from torch import nn

def fit(loader, val):
    model = nn.Sequential(nn.Linear(4, 4), nn.{layer}(4), nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    model.train()
    for epoch in range(3):{again}
        for x, y in loader:
            opt.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            opt.step()
        model.eval(){mark}
        with torch.no_grad():
            print(sum(nn.functional.mse_loss(model(x), y) for x, y in val))
"""
BAD = (
    Example(_BODY.format(layer="BatchNorm1d", again="", mark="  # found")),
    Example("""
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return self.drop(x)

def evaluate(net, loader):
    net.eval()  # found
    with torch.no_grad():
        return sum(net(x).mean() for x in loader)

def fit(loader, val):
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for x in loader:
            opt.zero_grad()
            net(x).mean().backward()
            opt.step()
        evaluate(net, val)
"""),
    Example("""
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)

def score(loader):
    net.eval()
    with torch.no_grad():
        return sum(net(x).mean() for x in loader)

def fit(loader, val):
    net.train()  # found
    for epoch in range(3):
        for x in loader:
            opt.zero_grad()
            net(x).mean().backward()
            opt.step()
        print(score(val))
"""),
)
GOOD = (
    Example(_BODY.format(layer="BatchNorm1d", again="\n        model.train()", mark="")),
    Example(_BODY.format(layer="LayerNorm", again="", mark="")),
    Example("""
import torch
from torch import nn

def fit(loader):
    teacher, student = nn.Dropout(0.1), nn.Dropout(0.1)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in loader:
        teacher.eval()
        opt.zero_grad()
        (student(x) - teacher(x)).pow(2).mean().backward()
        opt.step()
"""),
)
