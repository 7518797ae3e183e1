"""Whether what a model gives out for a place changes with what it is given there. Sealed child only."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab.quiet_pass import quiet


def reached(output: torch.Tensor, looked_up: torch.Tensor, mask: torch.Tensor) -> bool | None:
    """Whether the row of logits for the first selected place has a way to the vector that was looked up there."""
    rows = output.transpose(1, 2) if output.dim() == 3 and output.shape[2] == mask.shape[-1] else output
    rows = rows.reshape(-1, rows.shape[-1])
    place = mask.nonzero()[0]
    if len(rows) == int(mask.sum()):
        row = 0
    elif len(rows) == mask.numel():
        row = int(mask.reshape(-1).nonzero()[0])
    else:
        return None
    mix = torch.randn(rows.shape[1], generator=torch.Generator().manual_seed(0)).to(rows.device, rows.dtype)
    (way,) = torch.autograd.grad(rows[row] @ mix, looked_up, retain_graph=True, allow_unused=True)
    return None if way is None else int(way[tuple(place)].count_nonzero()) > 0


def changes(module: torch.nn.Module, args: tuple[Any, ...], mask: torch.Tensor) -> bool | None:
    """Whether another value at the first selected place makes another output for it."""
    given, place = args[0].detach(), tuple(mask.nonzero()[0])
    changed = given.clone()
    changed[place] += given.float().std().to(given.dtype) + 1
    with quiet(module):
        before, after = module(given, *args[1:]), module(changed, *args[1:])
    if not isinstance(before, torch.Tensor) or before.shape[: mask.dim()] != mask.shape:
        return None
    return bool((before[place] != after[place]).any())
