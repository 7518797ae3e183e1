"""Samples that do not go into a batch: written as a loader over them, since that is where a reader meets them."""

from __future__ import annotations

from torch.utils._pytree import tree_leaves

from firstcause.minimize.failure import Failure
from firstcause.minimize.program import Program, Ref, is_ref
from firstcause.minimize.writing import Writer

COLLATE = "torch/utils/data/_utils/collate.py"


def in_collate(error: BaseException | None) -> bool:
    """Whether the exception was raised by what torch's own collate function calls."""
    trace = error.__traceback__ if error is not None else None
    files = []
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename.replace("\\", "/"))
        trace = trace.tb_next
    own = [f for f in files if "firstcause/minimize" not in f]
    return bool(own) and COLLATE in own[-1]


def loader_lines(program: Program, workers: int, largest_first: bool = False) -> list[str] | None:
    """A loader of the tensors that the last call puts together; nothing where they are not all given as they are.

    A worker makes room for the batch by its first sample, and refuses in other words where that is the largest.
    """
    call = program.calls[-1]
    samples = [x.number for x in tree_leaves(call.args, is_leaf=is_ref) if isinstance(x, Ref)]
    if largest_first:
        samples.sort(key=lambda n: -program.leaves[n].value.numel() if n in program.leaves else 0)
    if len(program.calls) != 1 or not samples or any(n not in program.leaves for n in samples):
        return None
    writer = Writer(program, Failure("raised", call.name, ""))
    values = ", ".join(writer.made(program.leaves[n]) for n in samples)
    given = f"batch_size={len(samples)}" + (f", num_workers={workers}" if workers else "")
    return [
        "import torch",
        "from torch.utils.data import DataLoader",
        "",
        f"samples = [{values}]",
        f"next(iter(DataLoader(samples, {given})))  # RuntimeError",
    ]
