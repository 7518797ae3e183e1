"""A process group and distributed wrappers for a single card.

Why: nothing is divided and everything is slower to start; ``python train.py`` fails where the launcher's variables are read.
Refuted by: more than one card in the brief, a brief that asks for it, a test of the world's size around it.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "single-gpu-distributed"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

STARTS = (
    "torch.distributed.init_process_group",
    "torch.distributed.distributed_c10d.init_process_group",
    "deepspeed.init_distributed",
)
WRAPS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard",
)


def find(code: Code) -> Iterator[Finding]:
    cards = [i for i in code.asked("num_gpus") if i.value == 1 and i.relation in ("eq", "max")]
    wanted = [i for i in code.asked("distributed") if i.polarity == "require"]
    if not cards or wanted:
        return
    for call in [*code.calls(*STARTS), *code.calls(*WRAPS)][:1]:
        if not _guarded(call):
            text = (
                f"{call.name.rpartition('.')[2]} on a single card divides nothing; model.to(device) is enough"
            )
            yield finding(
                SLUG, CATEGORY, call.module, call.node, text, key="distributed", asked="single gpu", got="ddp"
            )


def _guarded(call: Call) -> bool:
    return any(isinstance(p, ast.If) for p in call.module.ancestors(call.node))


_BODY = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def main(net, rank):
    {start}{mark}
    return {model}
"""
BAD = (
    Example(
        _BODY.format(start='dist.init_process_group("nccl")', mark="  # found", model="DDP(net)"),
        asked={"num_gpus": 1},
    ),
    Example(_BODY.format(start="model = DDP(net)", mark="  # found", model="model"), asked={"num_gpus": 1}),
)
GOOD = (
    Example(
        _BODY.format(start='dist.init_process_group("nccl")', mark="", model="DDP(net)"),
        asked={"num_gpus": 4},
    ),
    Example(_BODY.format(start='dist.init_process_group("nccl")', mark="", model="DDP(net)")),
    Example(_BODY.format(start="pass", mark="", model='net.to("cuda")'), asked={"num_gpus": 1}),
)
