"""Make one size smaller wherever it stands: in the shapes of the given tensors and among the numbers of the calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch.utils._pytree import tree_leaves, tree_map

from firstcause.minimize.program import Call, Leaf, Program, dense, is_ref
from firstcause.minimize.regions import Region

# Smaller numbers are as often a dimension or a count of something else.
LEAST = 3


def smaller_sizes(program: Program) -> Iterator[Program]:
    shapes = {size for leaf in program.leaves.values() for size in leaf.value.shape}
    for size in sorted(shapes, reverse=True):
        for smaller in dict.fromkeys((1, 2, 3, 4, size // 8, size // 4, size // 2)):
            if 0 < smaller < size:
                for last in (False, True):
                    yield resized(program, size, smaller, last)
    # One dimension of one tensor, where its size stands for something else elsewhere.
    for number, leaf in program.leaves.items():
        for dim, size in enumerate(leaf.value.shape):
            for smaller in (1, 2, size // 2):
                if 0 < smaller < size:
                    cut = narrowed(leaf, dim, smaller, last=False)
                    yield replace(program, leaves={**program.leaves, number: cut})


def resized(program: Program, size: int, smaller: int, last: bool) -> Program:
    """``size`` replaced by ``smaller``: the first entries of each tensor are kept, or the last ones."""
    leaves = dict(program.leaves)
    for number, leaf in leaves.items():
        for dim, old in enumerate(leaf.value.shape):
            if old == size:
                leaves[number] = narrowed(leaves[number], dim, smaller, last)

    def other(x: Any) -> Any:
        return smaller if type(x) is int and x == size and size >= LEAST else x

    def smaller_call(call: Call) -> Call:
        if isinstance(call.function, Region):
            runs = tuple(tuple(map(smaller_call, run)) for run in call.function.runs)
            return replace(call, function=replace(call.function, runs=runs))
        if any(type(x) is int and x == size for x in tree_leaves((call.args, call.kwargs), is_leaf=is_ref)):
            args, kwargs = tree_map(other, (call.args, call.kwargs), is_leaf=is_ref)
            return replace(call, args=args, kwargs=kwargs)
        return call

    return replace(program, leaves=leaves, calls=tuple(map(smaller_call, program.calls)))


def narrowed(leaf: Leaf, dim: int, size: int, last: bool) -> Leaf:
    start = leaf.value.shape[dim] - size if last else 0
    return replace(leaf, value=dense(leaf.value.narrow(dim, start, size)))
