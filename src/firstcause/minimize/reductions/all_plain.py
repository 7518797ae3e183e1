"""Random values for every captured tensor at once, and every size at once: where a failure asks for neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from firstcause.minimize.program import Leaf, Program
from firstcause.minimize.reductions.plain_values import expressions
from firstcause.minimize.reductions.smaller_sizes import resized


def all_plain(program: Program) -> Iterator[Program]:
    laid = {
        n: replace(f, value=f.value.contiguous()) for n, f in program.leaves.items() if not _contiguous(f)
    }
    if laid:
        yield replace(program, leaves={**program.leaves, **laid})
    captured = {n: leaf for n, leaf in program.leaves.items() if leaf.made is None}
    if len(captured) > 1:
        yield replace(program, leaves={**program.leaves, **{n: _plain(leaf) for n, leaf in captured.items()}})
        floats = {n: _plain(leaf) for n, leaf in captured.items() if leaf.value.is_floating_point()}
        yield replace(program, leaves={**program.leaves, **floats})
    sizes = sorted({size for leaf in program.leaves.values() for size in leaf.value.shape if size > 4})
    for few in (2, 3):
        smaller = program
        for n, size in enumerate(sizes):
            smaller = resized(smaller, size, few + n, last=False)
        if len(sizes) > 1:
            yield smaller


def _plain(leaf: Leaf) -> Leaf:
    made = next(expressions(leaf), None)
    return leaf if made is None else replace(leaf, made=made)


def _contiguous(leaf: Leaf) -> bool:
    return leaf.value.layout is not torch.strided or leaf.value.is_contiguous()
