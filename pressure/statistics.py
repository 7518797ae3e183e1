"""Intervals and tests for a handful of runs."""

from __future__ import annotations

import math

Z = 1.959964


def wilson(passed: int, runs: int) -> tuple[float, float]:
    """The 95 % interval of a share after Wilson; the whole range without runs."""
    if runs == 0:
        return 0.0, 1.0
    share, z2 = passed / runs, Z * Z
    middle = (share + z2 / (2 * runs)) / (1 + z2 / runs)
    half = Z / (1 + z2 / runs) * math.sqrt(share * (1 - share) / runs + z2 / (4 * runs * runs))
    return max(0.0, middle - half), min(1.0, middle + half)


def fisher(a: int, b: int, c: int, d: int) -> float:
    """The two-sided p of Fisher's exact test for passed and failed of one arm (a, b) against another (c, d)."""
    rows, column, total = (a + b, c + d), a + c, a + b + c + d

    def chance(x: int) -> float:
        return math.comb(rows[0], x) * math.comb(rows[1], column - x) / math.comb(total, column)

    seen = chance(a)
    least, most = max(0, column - rows[1]), min(rows[0], column)
    return min(1.0, sum(p for p in map(chance, range(least, most + 1)) if p <= seen * (1 + 1e-9)))
