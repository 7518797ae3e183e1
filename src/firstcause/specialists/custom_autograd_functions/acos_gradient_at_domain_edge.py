"""acos-gradient-at-domain-edge: an inverse function at the edge of its domain, where its derivative is infinite, or past it."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import number, operation, settle_by_root
from firstcause.specialists.examination import Examination, Facts

CAUSE = "acos-gradient-at-domain-edge"
OPS = frozenset({"acos", "asin", "atanh", "acosh", "arccos", "arcsin", "arctanh", "arccosh"})
NODES = ("AcosBackward", "AsinBackward", "AtanhBackward", "AcoshBackward")


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    why = told(root) if matches and root is not None else "no acos, asin or atanh at the edge of its domain"
    return settle_by_root(hypothesis, examination, matches, why)


def shows(root: Facts) -> bool:
    """Whether a birth is such a function at or past its edge, or its derivative there."""
    name = root["op"].rstrip("_")
    argument = number(root, 0)
    if root["phase"] == "backward":
        node = root.get("node") or ""
        values = [v for v in root.get("operands_at") or [] if v is not None]
        # 1 - x**2 is what the derivative divides by: 0 at the edge, below 0 past it.
        return (
            node.startswith(NODES)
            and name in ("rsqrt", "div", "reciprocal", "mul", "sqrt")
            and bool([v for v in values if v <= 0.0])
        )
    if argument is None or name not in OPS:
        return False
    return argument <= 1.0 if name in ("acosh", "arccosh") else abs(argument) >= 1.0


def told(root: Facts) -> str:
    if root["phase"] == "backward":
        function = str(root.get("node")).partition("Backward")[0].lower()
        return f"the argument of {function} is at the edge of its domain, its derivative 1 / sqrt(1 - x^2) is 1 / 0"
    return f"{root['op']} of {number(root, 0):.9g} lies at or past the edge of its domain"


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    return operation(examination) | {"beyond": root.get("phase") == "forward"}
