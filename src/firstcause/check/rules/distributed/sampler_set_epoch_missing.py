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
    epochs = [loop for loop in training_loops(code) if _several(code, loop)]
    for call in code.calls(*SAMPLERS):
        shuffle = call.constant("shuffle", 3)
        if (shuffle is not None and shuffle.value is False) or not epochs or not _feeds(code, call, epochs):
            continue
        text = "nothing calls set_epoch on this sampler: every epoch has the same order, since it shuffles with seed + epoch"
        yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _several(code: Code, loop: Loop) -> bool:
    """Whether another loop goes around: more than one epoch."""
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
            return last is None or last.value != 1
    return False


def _feeds(code: Code, sampler: Call, loops: list[Loop]) -> bool:
    """Whether a loader with this sampler is iterated in one of the loops."""
    for loader in code.calls("torch.utils.data.DataLoader"):
        value = loader.argument("sampler", 3)
        if value is None or all(o.node is not sampler.node for o in code.origins(loader.module, value.node)):
            continue
        for loop in loops:
            iterated = loop.node.iter if isinstance(loop.node, ast.For) else None
            if isinstance(iterated, ast.Call) and iterated.args:
                iterated = iterated.args[0]
            if iterated is not None and any(
                o.node is loader.node for o in code.origins(loop.module, iterated)
            ):
                return True
    return False


_BODY = """
import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def main(model, data):
    sampler = DistributedSampler(data{shuffle}){mark}
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range({epochs}):{call}
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
