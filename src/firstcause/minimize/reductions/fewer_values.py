"""Keep as few rows as still fail, of every tensor with as many of them at once or of one alone: halves, then single ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from firstcause.minimize.program import Leaf, Program

MOST = 512


def fewer_values(program: Program) -> Iterator[Program]:
    sizes = {
        (dim, leaf.value.shape[dim])
        for leaf in program.leaves.values()
        if leaf.made is None and leaf.value.device.type != "meta"
        for dim in range(leaf.value.dim())
        if 1 < leaf.value.shape[dim] <= MOST
    }
    for dim, size in sorted(sizes, reverse=True):
        alike = [
            n
            for n, leaf in program.leaves.items()
            if leaf.value.dim() > dim and leaf.value.shape[dim] == size
        ]
        for rows in _subsets(size):
            yield _with(program, alike, dim, rows)
        for number in alike if len(alike) > 1 else ():
            for rows in _subsets(size):
                yield _with(program, [number], dim, rows)


def _subsets(size: int) -> Iterator[list[int]]:
    """A few consecutive ones first, then all but some of them."""
    width = size // 2
    while width:
        for start in range(0, size, width):
            yield list(range(start, min(start + width, size)))
        if width < size // 2 or width == 1:
            for start in range(0, size, width):
                kept = [n for n in range(size) if not start <= n < start + width]
                if kept:
                    yield kept
        width //= 4 if width > 4 else 2


def _with(program: Program, numbers: list[int], dim: int, rows: list[int]) -> Program:
    index = torch.tensor(rows)
    leaves: dict[int, Leaf] = dict(program.leaves)
    for n in numbers:
        leaf = leaves[n]
        chosen = leaf.value.index_select(dim, index.to(leaf.value.device))
        leaves[n] = replace(leaf, value=chosen.contiguous())
    return replace(program, leaves=leaves)
