"""Each process of a distributed run reads a checkpoint onto the card that wrote it.

Why: tensors go back to where they were saved, cuda:0: all processes fill the first card, which runs out of memory.
Refuted by: map_location, a file that was saved from the CPU, reading in one process.
Holds for: torch, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.ranks import is_distributed, names_a_file, one_rank_only
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "load-without-map-location"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if not is_distributed(code):
        return
    for call in code.calls("torch.load"):
        if (
            call.may_have("map_location")
            or len(call.node.args) > 1
            or not names_a_file(call)
            or one_rank_only(code, call)
        ):
            continue
        text = "without map_location every process loads onto the card that saved it, cuda:0"
        yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="map_location")


_BODY = """
import torch
import torch.distributed as dist

def main(net, rank):
    {start}
    net.load_state_dict(torch.load("net.pt"{given})){mark}
"""
_START = 'dist.init_process_group("nccl")'
BAD = (
    Example(_BODY.format(start=_START, given="", mark="  # found")),
    Example(_BODY.format(start=_START, given=", weights_only=True", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(start=_START, given=', map_location="cpu"', mark="")),
    Example(_BODY.format(start="pass", given="", mark="")),
    Example(_BODY.format(start=_START + "\n    if rank != 0:\n        return", given="", mark="")),
)
