"""Whether a series of samples is a growth that goes on, or only a start, a spread or a filling."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

LEAST = 8
# The tail of a series is its second half; what grows by epochs rises at few of its samples, but to the end.
LEAST_RISES = 3


def rises(values: Sequence[int]) -> bool:
    """Counts: never lower in the second half than before, and higher again and again up to its last quarter."""
    head, tail = values[: len(values) // 2], values[len(values) // 2 :]
    if len(tail) < LEAST // 2:
        return False
    ups = [i for i, (a, b) in enumerate(pairwise(tail)) if b > a]
    falls = any(b < a for a, b in pairwise(tail))
    return (
        not falls
        and len(ups) >= LEAST_RISES
        and ups[-1] >= 3 * (len(tail) - 1) // 4
        and _even(tail)
        and tail[0] >= max(head)
        and tail[-1] > values[0]
    )


def climbs(values: Sequence[int]) -> bool:
    """Bytes of a process, which also fall: each third of the series lies above the one before, and the ends agree."""
    if len(values) < LEAST:
        return False
    third = len(values) // 3
    low, middle, high = (median(values[i * third : (i + 1) * third]) for i in range(3))
    first, second = middle - low, high - middle
    return first > 0 and second > first / 2


def _even(tail: Sequence[int]) -> bool:
    """Whether the last half of the tail grows at least half as much as the first: what fills up grows less and less."""
    middle = len(tail) // 2
    return 2 * (tail[-1] - tail[middle]) >= tail[middle] - tail[0]
