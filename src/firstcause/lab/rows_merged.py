"""Rows that were several axes, and whether a later view takes them apart in another order than they were put together."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import torch

from firstcause.lab.derived import Derived

JOINING = frozenset({"view", "reshape", "flatten"})
# What gives rows another order, or other rows: nothing is known of what these make.
REORDERING = frozenset(
    {"getitem", "index_select", "gather", "take", "take_along_dim", "flip", "flipud", "roll", "sort", "topk"}
    | {"cat", "concat", "stack", "repeat", "tile", "repeat_interleave", "masked_select", "split", "chunk"}
    | {"t", "transpose", "permute", "movedim", "moveaxis", "swapaxes", "swapdims", "unsqueeze", "unbind"}
    | {"expand", "unfold", "nonzero", "where", "scatter", "index_put", "cumsum", "einsum", "tensordot"}
)


@dataclass(frozen=True)
class Merged:
    """The axes that rows were, and the place where they became one."""

    sizes: tuple[int, ...]
    site: dict[str, Any]


def merged_sizes(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...] | None:
    """The leading axes that become the first one, all of different sizes; None where a view does something else."""
    for count in range(2, len(before)):
        sizes = before[:count]
        if after and prod(sizes) == after[0] and prod(before[count:]) == prod(after[1:]):
            return sizes if min(sizes) > 1 and len(set(sizes)) == count else None
    return None


def crossed(
    merged: tuple[int, ...], before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The order in which the axes of ``after`` lie in the rows, where a view takes them in another one; else None."""
    count = len(merged)
    leading = after[:count]
    if (
        before[0] != prod(merged)
        or len(leading) != count
        or leading == merged
        or sorted(leading) != sorted(merged)
        or prod(before[1:]) != prod(after[count:])
    ):
        return None
    return (*(leading.index(size) for size in merged), *range(count, len(after)))


def parts_shape(merged: tuple[int, ...], before: tuple[int, ...], parts: Any) -> tuple[int, ...] | None:
    """The shape of the parts that rows are cut into, put on top of each other; None where these are no one axis of theirs."""
    if not isinstance(parts, tuple) or len(merged) != 2 or len(parts) != merged[1]:
        return None
    part = (merged[0], *before[1:])
    return (len(parts), *part) if all(tuple(p.shape) == part for p in parts) else None


def _reorders(name: str, args: tuple[Any, ...]) -> bool:
    if name == "getitem" and isinstance(args[1], tuple) and args[1]:
        first = args[1][0]
        return not (isinstance(first, slice) and first == slice(None))
    return name in REORDERING


class Rows:
    """Which tensors have rows that were several axes; what is made of them row by row has them, too."""

    def __init__(self) -> None:
        self.merged: Derived[Merged] = Derived()

    def joined(self, result: torch.Tensor, merged: Merged) -> None:
        self.merged.note(result, merged)

    def of(self, value: Any) -> Merged | None:
        return self.merged.of(value)

    def follow(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        """Hand on to a result with as many rows what its operands agree on."""
        if not self.merged.known or not isinstance(result, torch.Tensor) or _reorders(name, args):
            return
        found = {m.sizes: m for a in args if (m := self.merged.of(a)) is not None}
        merged = next(iter(found.values())) if len(found) == 1 else None
        if merged is not None and result.dim() and result.shape[0] == prod(merged.sizes):
            # The other side of a product may have as many rows by chance, but it is no longer theirs.
            first = self.merged.of(args[0]) if args else None
            if name not in ("matmul", "mm", "bmm", "addmm") or first is not None:
                self.merged.note(result, merged)
