"""A view that puts axes in another order than their elements lie in, and the same shape with elements moved along."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations
from math import prod

MOST_AXES = 5


def order_of(before: Sequence[int], after: Sequence[int]) -> tuple[str, tuple[int, ...]] | None:
    """How the shapes fit once axes are swapped, where a view alone cuts through them; None where it does not.

    ``("after", order)``: viewed as ``[after[i] for i in order]`` every axis is only split, and the inverse of ``order`` brings
    ``after``. ``("before", order)``: permuted by ``order`` first, axes are only merged.
    """
    if (
        max(len(before), len(after)) > MOST_AXES
        or 1 in before
        or 1 in after
        or _splits(before, after)
        or _splits(after, before)
    ):
        return None
    if _chained(before, after) and not set(before) & set(after) - {before[0]}:
        return None
    for longer, shorter, which in ((after, before, "after"), (before, after, "before")):
        if len(longer) < len(shorter):
            continue
        ways = [o for o in permutations(range(len(longer))) if _splits(shorter, [longer[i] for i in o])]
        kept = [o for o in ways if _keeps_some(longer, shorter, o)]
        if kept:
            return which, min(kept, key=_inversions)
    return None


def _splits(whole: Sequence[int], parts: Sequence[int]) -> bool:
    """Whether each axis of ``whole`` is the product of consecutive axes of ``parts``."""
    place = 0
    for size in whole:
        product, used = 1, 0
        while product < size and place < len(parts):
            product, place, used = product * parts[place], place + 1, used + 1
        if product != size or not used:
            return False
    return place == len(parts)


def _keeps_some(longer: Sequence[int], shorter: Sequence[int], order: Sequence[int]) -> bool:
    """Whether an axis that changes its place has its own size on both sides: it was meant to stay itself."""
    moved = [longer[i] for place, i in enumerate(order) if i != place]
    return any(size in shorter for size in moved) and prod(moved) > 1


def _chained(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether neighbours are only taken apart and put together, as when frames are stacked."""
    cuts = sorted({prod(shape[i:]) for shape in (before, after) for i in range(1, len(shape))})
    return all(high % low == 0 for low, high in pairwise(cuts))


def _inversions(order: Sequence[int]) -> int:
    """How many pairs of axes change their order: the least keeps axes of one size apart as they were."""
    return sum(a > b for place, a in enumerate(order) for b in order[place:])
