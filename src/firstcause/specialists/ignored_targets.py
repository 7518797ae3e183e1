"""A sum over targets that all carry the label which does not count: its mean is 0 / 0, whoever divides."""

from __future__ import annotations

from firstcause.specialists.births import number
from firstcause.specialists.examination import Examination, Facts

DIVISIONS = frozenset({"div", "div_", "true_divide", "divide"})
# From a quotient to the loss that was summed there are casts, sums over parts and a scaling.
NEAR = 12


def all_ignored(examination: Examination, root: Facts) -> Facts | None:
    """The figures of the targets where the birth is 0 / 0 and its numerator a sum over none of them; else None."""
    targets: Facts | None = root.get("targets")
    if targets is None and root["op"] in DIVISIONS and number(root, 0) == 0.0 and number(root, 1) == 0.0:
        numerator = (root.get("inputs") or [])[:1]
        summed = [op["targets"] for op in examination.behind(numerator, NEAR) if op.get("targets")]
        targets = summed[0] if len(summed) == 1 else None
    if not targets or not targets["count"] or targets["ignored"] < targets["count"]:
        return None
    return targets
