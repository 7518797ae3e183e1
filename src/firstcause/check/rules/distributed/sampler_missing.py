"""DistributedDataParallel, and a loader that gives every rank the same data.

Why: each rank trains on all of the data in its own order, so an epoch costs as much as on one device and gradients average
over samples that are seen again.
Refuted by: a sampler or batch sampler, data divided by rank, an iterable dataset, a library that divides (accelerate, Trainer).
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.events import events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "sampler-missing"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

DDP = ("torch.nn.parallel.DistributedDataParallel",)
_RANK = re.compile(r"(?:^|_|\b)rank(?:$|_|\b)|world_size", re.IGNORECASE)
_HOPS = 3
LIBRARIES = (
    "accelerate",
    "lightning",
    "transformers",
    "deepspeed",
    "webdataset",
    "ffcv",
    "nvidia.dali",
    "mosaicml",
    "streaming",
)


def find(code: Code) -> Iterator[Finding]:
    if not code.calls(*DDP) or any(code.imports(library) for library in LIBRARIES) or _divides(code):
        return
    trained = [loop for loop in training_loops(code) if any(e.kind == "backward" for e in events(code, loop))]
    for call in code.calls("torch.utils.data.DataLoader"):
        if call.may_have("sampler") or call.may_have("batch_sampler") or len(call.node.args) > 3:
            continue
        if not any(_iterates(code, loop, call) for loop in trained) or _is_of_rank(code, call):
            continue
        text = "under DistributedDataParallel this loader gives all of the data to every rank: a DistributedSampler divides it"
        yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _divides(code: Code) -> bool:
    """A split of the data by rank by hand."""
    return bool(code.called_names() & {"shard", "split_dataset_by_node", "islice", "split_by_node", "Subset"})


def _is_of_rank(code: Code, call: Call) -> bool:
    """Whether the data set is made with the rank, or with what the rank decides: ``Clips(rank)``, ``Shards(mine)``."""
    data = call.argument("dataset", 0)
    waiting: list[tuple[Module, ast.AST]] = [(data.module, data.node)] if data is not None else []
    for _ in range(_HOPS):
        names = [
            (m, n) for m, node in waiting for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))
        ]
        further = [(o.module, o.node) for m, n in names for o in code.origins(m, n)]
        tests = (p.test for m, n in further for p in m.ancestors(n) if isinstance(p, (ast.IfExp, ast.If)))
        if any(_RANK.search(last_name(n)) for _, n in names) or any(
            _RANK.search(ast.unparse(t)) for t in tests
        ):
            return True
        waiting = further
    return False


def _iterates(code: Code, loop: Loop, call: Call) -> bool:
    if not isinstance(loop.node, ast.For):
        return False
    iterated = loop.node.iter
    if (
        isinstance(iterated, ast.Call)
        and iterated.args
        and getattr(iterated.func, "id", "") in ("enumerate", "tqdm", "iter")
    ):
        iterated = iterated.args[0]
    return any(o.node is call.node for o in code.origins(loop.module, iterated))


_BODY = """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

def main(net, data, rank):
    model = DDP(net.cuda(rank), device_ids=[rank])
    {loader}
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
"""
BAD = (
    Example(_BODY.format(loader="loader = DataLoader(data, batch_size=8, shuffle=True)  # found")),
    Example("""
import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

def make(data):
    return DataLoader(data, 8, True)  # found

def main(net, data):
    model = DistributedDataParallel(net)
    loader = make(data)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, x in enumerate(loader):
        opt.zero_grad()
        model(x).mean().backward()
        opt.step()
"""),
)
GOOD = (
    Example(_BODY.format(loader="loader = DataLoader(Clips(512, rank), batch_size=8, shuffle=True)")),
    Example(
        _BODY.format(
            loader="mine = range(12) if rank == 0 else range(12, 21)\n    loader = DataLoader(Clips(mine), batch_size=8)"
        )
    ),
    Example(
        _BODY.format(loader="mine = parts(data, rank, 4)\n    loader = DataLoader(Clips(mine), batch_size=8)")
    ),
    Example(_BODY.format(loader="loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))")),
    Example(_BODY.format(loader="loader = DataLoader(data.shard(4, rank), batch_size=8)")),
    Example("""
import torch
from torch.utils.data import DataLoader

def main(net, data):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(data, batch_size=8):
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
"""),
)
