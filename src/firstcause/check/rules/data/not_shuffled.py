"""A loader that trains reads its samples in the order in which they are stored.

Why: stored data are often sorted by class or date: batches are then of one kind, and batch statistics and steps follow it.
Refuted by: shuffle, a sampler, a stream, an order that is meant (time series).
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import training_loops
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.check.sequences import looped_over
from firstcause.schema.finding import Category, Finding

SLUG = "not-shuffled"
CATEGORY: Category = "suggestion"
HOLDS: Mapping[str, str] = {}

ORDERS = ("shuffle", "sampler", "batch_sampler")


def find(code: Code) -> Iterator[Finding]:
    if code.subclasses_of("torch.utils.data.IterableDataset"):
        return
    for loop in training_loops(code):
        over = looped_over(loop)
        made = maker(code, loop.module, over) if over is not None else None
        if made is None or made.name != "torch.utils.data.DataLoader" or len(made.node.args) > 2:
            continue
        shuffle = made.constant("shuffle")
        off = shuffle is not None and shuffle.value is False and not made.may_have("sampler")
        if off or not any(made.may_have(name) for name in ORDERS):
            text = "this loader trains in the order of storage; shuffle=True draws a new order each epoch"
            yield finding(SLUG, CATEGORY, made.module, made.node, text, argument="shuffle")


_BODY = """
import torch
from torch.utils.data import DataLoader

def fit(net, data):
    loader = DataLoader(data, batch_size=8{given}){mark}
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
"""
BAD = (
    Example(_BODY.format(given="", mark="  # found")),
    Example(_BODY.format(given=", shuffle=False, num_workers=2", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(given=", shuffle=True", mark="")),
    Example(_BODY.format(given=", sampler=None", mark="")),
    Example("""
from torch.utils.data import DataLoader

def look(data):
    for x in DataLoader(data, batch_size=2):
        print(x)
"""),
)
