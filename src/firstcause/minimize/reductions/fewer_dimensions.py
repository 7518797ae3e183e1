"""Leave out dimensions of size 1, of every tensor at once or of one alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from firstcause.minimize.program import Program


def fewer_dimensions(program: Program) -> Iterator[Program]:
    thin = {
        (number, dim)
        for number, leaf in program.leaves.items()
        for dim, size in enumerate(leaf.value.shape)
        if size == 1 and leaf.value.dim() > 1
    }
    for dim in sorted({dim for _, dim in thin}):
        together = {
            n: replace(program.leaves[n], value=program.leaves[n].value.squeeze(dim))
            for n, d in thin
            if d == dim
        }
        yield replace(program, leaves={**program.leaves, **together})
    for number, dim in sorted(thin):
        one = replace(program.leaves[number], value=program.leaves[number].value.squeeze(dim))
        yield replace(program, leaves={**program.leaves, number: one})
