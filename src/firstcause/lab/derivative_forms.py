"""What makes a wrong derivative of the right one: a sign, a factor, the other input's. No torch here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firstcause.lab.derivatives import Compared

# Both sides are computed in float64, one by differences.
ALIKE = 1e-3


def form(wrong: Compared, every: Sequence[Compared]) -> str:
    """In words, for a sentence that begins with "it is"; empty where no one thing explains it."""
    pairs = [(n, g) for n, g in wrong.pairs if n and g]
    ratios = [g / n for n, g in pairs]
    if not ratios:
        return ""
    middle = sorted(ratios)[len(ratios) // 2]
    if all(math.isclose(r, middle, rel_tol=ALIKE) for r in ratios):
        return (
            "right but for its sign"
            if math.isclose(middle, -1.0, rel_tol=ALIKE)
            else f"{middle:.4g} times the right one"
        )
    if all(math.isclose(abs(r), 1.0, rel_tol=ALIKE) for r in ratios):
        return "right but for the sign of some elements"
    for other in every:
        if other is not wrong and _is_swapped(wrong, other):
            return f"that of input {other.position}"
    return ""


def _is_swapped(one: Compared, other: Compared) -> bool:
    """Whether one's given derivative is the numerical one of the other, element by element."""
    numerical = dict(zip(other.at, (n for n, _ in other.pairs), strict=True))
    both = [(g, numerical[at]) for at, (_, g) in zip(one.at, one.pairs, strict=True) if at in numerical]
    return len(both) >= 4 and all(math.isclose(g, n, rel_tol=ALIKE, abs_tol=1e-9) for g, n in both)
