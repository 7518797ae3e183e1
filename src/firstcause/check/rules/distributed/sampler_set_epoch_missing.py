"""A DistributedSampler shuffles and never learns which epoch it is.

Why: it shuffles with the seed plus the epoch, which stays 0: every epoch has the same order and the same split.
Refuted by: set_epoch anywhere, one epoch only, shuffle=False, a library that calls it (accelerate, Lightning, Trainer).
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.events import around, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "sampler-set-epoch-missing"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

SAMPLERS = ("torch.utils.data.DistributedSampler", "torch.utils.data.distributed.DistributedSampler")
LIBRARIES = ("accelerate", "lightning", "transformers")


def find(code: Code) -> Iterator[Finding]:
    if "set_epoch" in code.called_names() or any(code.imports(library) for library in LIBRARIES):
        return
    for call in code.calls(*SAMPLERS):
        shuffle = call.constant("shuffle", 3)
        if shuffle is not None and shuffle.value is False:
            continue
        for loop in training_loops(code):
            epochs = _epochs(code, loop)
            if epochs is None or not _feeds(code, call, loop):
                continue
            text = (
                f"nothing in this loop calls set_epoch on the sampler of line {call.site.line}: every epoch has the same order, "
                "since it shuffles with seed + epoch"
            )
            yield finding(SLUG, CATEGORY, epochs.module, epochs.node, text, related=(call.site,))


def _epochs(code: Code, loop: Loop) -> Loop | None:
    """The loop around the one over batches; None where it runs once."""
    for outer in around(code, loop):
        node = outer.node
        counted = (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and getattr(node.iter.func, "id", "") == "range"
        )
        if counted:
            assert isinstance(node, ast.For)
            assert isinstance(node.iter, ast.Call)
            last = code.constant(outer.module, node.iter.args[-1]) if node.iter.args else None
            return outer if last is None or last.value != 1 else None
    return None


def _feeds(code: Code, sampler: Call, loop: Loop) -> bool:
    """Whether the loop iterates a loader with this sampler."""
    iterated = loop.node.iter if isinstance(loop.node, ast.For) else None
    if isinstance(iterated, ast.Call) and iterated.args:
        iterated = iterated.args[0]
    if iterated is None:
        return False
    made = {o.node for o in code.origins(loop.module, iterated)}
    for loader in code.calls("torch.utils.data.DataLoader"):
        value = loader.argument("sampler", 3)
        if loader.node in made and value is not None:
            return any(o.node is sampler.node for o in code.origins(loader.module, value.node))
    return False


_BODY = """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def main(model, data):
    sampler = DistributedSampler(data{shuffle})
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range({epochs}):{mark}{call}
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
"""
BAD = (
    Example(_BODY.format(shuffle="", mark="  # found", epochs="3", call="")),
    Example(_BODY.format(shuffle=", shuffle=True", mark="  # found", epochs="int(10)", call="")),
)
GOOD = (
    Example(_BODY.format(shuffle="", mark="", epochs="3", call="\n        sampler.set_epoch(epoch)")),
    Example(_BODY.format(shuffle=", shuffle=False", mark="", epochs="3", call="")),
    Example(_BODY.format(shuffle="", mark="", epochs="1", call="")),
)
