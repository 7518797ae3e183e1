"""log-of-zero: the argument of a logarithm is exactly 0, in value or after rounding."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import number, operation, settle_by_root
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.masking import masked_row

CAUSE = "log-of-zero"
# The argument at which each op has its pole.
POLES = {
    "log": 0.0,
    "log_": 0.0,
    "log2": 0.0,
    "log2_": 0.0,
    "log10": 0.0,
    "log10_": 0.0,
    "log1p": -1.0,
    "log1p_": -1.0,
}
NODES = {"LogBackward0": 0.0, "Log2Backward0": 0.0, "Log10Backward0": 0.0, "Log1PBackward0": -1.0}


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    masked = masked_row(examination) if matches else None
    if masked is not None:
        return settle_by_root(
            hypothesis, examination, False, f"a mask is taken the logarithm of: {masked.text}"
        )
    return settle_by_root(hypothesis, examination, matches, "" if matches else "no logarithm of 0")


def shows(root: Facts) -> bool:
    """Whether a birth is a logarithm at its pole, or its derivative there."""
    if root["phase"] == "forward":
        return root["op"] in POLES and number(root, 0) == POLES[root["op"]]
    pole = NODES.get(root.get("node") or "")
    # The derivative is grad / x (x + 1 for log1p): its denominator is 0 at the pole.
    return (
        pole is not None
        and root["op"] in ("div", "div_", "mul", "reciprocal")
        and 0.0 in (number(root, 0), number(root, 1))
    )


def facts(examination: Examination) -> Facts:
    return operation(examination)
