"""sqrt-backward-at-zero: the forward is finite, the derivative of a root at 0 is not."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import number, operation, settle_by_root
from firstcause.specialists.examination import Examination, Facts

CAUSE = "sqrt-backward-at-zero"
ROOTS = (
    "SqrtBackward",
    "NormBackward",
    "LinalgVectorNormBackward",
    "StdBackward",
    "CdistBackward",
    "PdistBackward",
)


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    return settle_by_root(hypothesis, examination, matches, "" if matches else "no root differentiated at 0")


def shows(root: Facts) -> bool:
    """Whether a birth is the derivative of a root, norm or power below 1, at 0."""
    node = root.get("node") or ""
    if root["phase"] != "backward":
        return False
    if node.startswith(ROOTS):
        return root["op"] in ("div", "div_", "mul", "reciprocal", "pow") and 0.0 in (
            number(root, 0),
            number(root, 1),
        )
    # d/dx x**p is p * x**(p - 1): a negative exponent at 0 where p is below 1.
    exponent = number(root, 1)
    return (
        node.startswith("PowBackward")
        and root["op"] == "pow"
        and number(root, 0) == 0.0
        and exponent is not None
        and -1 < exponent < 0
    )


def facts(examination: Examination) -> Facts:
    return operation(examination)
