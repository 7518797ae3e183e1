"""Every process of a distributed run writes the same checkpoint file.

Why: the processes write over each other: the file can end up broken, and each write costs time and disk.
Refuted by: a test of the rank around it or around the call, the rank in the file's name, sharded checkpoints.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.facts.engines import world
from firstcause.check.joined import runs_with
from firstcause.check.ranks import (
    STARTS,
    names_a_file,
    one_rank_only,
    writes,
    written_to,
)
from firstcause.check.rule import Example
from firstcause.check.trainers import OF_TRL, TRAINERS
from firstcause.schema.finding import Category, Finding

SLUG = "save-from-every-rank"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    asked = any(i.polarity == "require" for i in code.asked("save_rank"))
    starts = [*code.calls(*STARTS), *_accelerators(code)]
    if not asked and any(i.value == 1 for i in code.asked("num_gpus")):
        # On one card there is one process.
        return
    if asked and (world(code) or 1) > 1:
        # A library's trainer starts the processes' group itself.
        starts += code.calls(*TRAINERS, *OF_TRL)
    if not starts:
        return
    for call in writes(code):
        if (
            not names_a_file(call)
            or not runs_with(code, call.module, starts)
            or _named_by_rank(call)
            or one_rank_only(code, call)
        ):
            continue
        text = "every process writes this file; a test of the rank (rank == 0) lets one of them do it"
        if asked:
            text += ", as was asked for"
        category: Category = "critical" if asked else CATEGORY
        yield finding(SLUG, category, call.module, call.node, text, key="save_rank")


def _accelerators(code: Code) -> list[Call]:
    """The Accelerators that prepare what is trained: the same script is run by any number of processes."""
    return code.calls("accelerate.Accelerator") if "prepare" in code.called_names() else []


def _named_by_rank(call: Call) -> bool:
    """Whether the file's name has a varying part that says which process it is."""
    value = written_to(call)
    if value is None:
        return True
    origins = call.code.origins(value.module, value.node)
    return (
        any("rank" in ast.unparse(o.node).lower() for o in origins)
        or "rank" in ast.unparse(value.node).lower()
    )


_BODY = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def save(net, path):
    torch.save(net.state_dict(), path){mark}

def main(net, rank):
    dist.init_process_group("nccl")
    net = DDP(net)
    {call}
"""
_ACCELERATED = """
import torch
from accelerate import Accelerator

def main(net, opt, loader):
    accelerator = Accelerator()
    net, opt, loader = accelerator.prepare(net, opt, loader)
    for batch in loader:
        accelerator.backward(net(batch).mean())
        opt.step()
        opt.zero_grad()
    {save}
"""
BAD = (
    Example(
        _ACCELERATED.format(save='torch.save(accelerator.unwrap_model(net).state_dict(), "net.pt")  # found')
    ),
    Example(
        _ACCELERATED.format(
            save='for epoch in range(3): accelerator.unwrap_model(net).save_pretrained(f"out/epoch{epoch}")  # found'
        )
    ),
    Example(_ACCELERATED.format(save='net.module.save_pretrained(save_directory="out")  # found')),
    Example(
        _BODY.format(call='save(net, "net.safetensors")', mark="  # found")
        .replace("torch.save(", "save_file(")
        .replace("import torch\n", "import torch\nfrom safetensors.torch import save_file\n", 1)
    ),
    Example(_BODY.format(call='save(net, "net.pt")', mark="  # found"), asked={"save_rank": 0}),
    Example(_BODY.format(call='save(net, "net.pt")', mark="  # found")),
    Example(_BODY.format(call='dist.barrier(); save(net, "out/net.pt")', mark="  # found")),
)
GOOD = (
    Example(
        _BODY.format(call='save(net, "net.pt")', mark="").replace(
            '    dist.init_process_group("nccl")\n', ""
        ),
        files={
            "other.py": 'import torch.distributed as dist\nimport shared\n\ndist.init_process_group("nccl")\n',
            "shared.py": "",
        },
    ),
    Example(
        _ACCELERATED.format(save='accelerator.save(accelerator.unwrap_model(net).state_dict(), "net.pt")')
    ),
    Example(
        _ACCELERATED.format(save='if accelerator.is_main_process: torch.save(net.state_dict(), "net.pt")')
    ),
    Example(
        _ACCELERATED.format(
            save='accelerator.unwrap_model(net).save_pretrained("out", save_function=accelerator.save)'
        )
    ),
    Example(
        _ACCELERATED.format(
            save='accelerator.unwrap_model(net).save_pretrained("out", is_main_process=accelerator.is_main_process)'
        )
    ),
    Example(_ACCELERATED.format(save='if accelerator.process_index == 0: net.save_pretrained("out")')),
    Example(_BODY.format(call='if not rank: save(net, "net.pt")', mark=""), asked={"save_rank": 0}),
    Example(_BODY.format(call='if rank == 0: save(net, "net.pt")', mark="")),
    Example(_BODY.format(call='if dist.get_rank() == 0: save(net, "net.pt")', mark="")),
    Example(
        _BODY.format(call='save(net, "net.pt")', mark="")
        .replace('dist.init_process_group("nccl")', "pass")
        .replace("DDP(net)", "net")
    ),
    Example(
        _BODY.format(call='save(net, "x")', mark="").replace(
            ", path)\n", ', f"net-{dist.get_rank()}.pt")\n', 1
        )
    ),
)
