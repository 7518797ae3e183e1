"""division-by-zero: a denominator is exactly 0."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import number, settle_by_root
from firstcause.specialists.examination import Examination, Facts

CAUSE = "division-by-zero"
DIVISIONS = frozenset({"div", "div_", "true_divide", "divide", "floor_divide", "remainder", "fmod"})
INVERSES = frozenset({"reciprocal", "reciprocal_", "rsqrt", "rsqrt_"})
NODES = ("DivBackward", "ReciprocalBackward", "RsqrtBackward", "RemainderBackward")


def propose(examination: Examination) -> bool:
    return examination.symptom.kind == "nan" or examination.root is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    if matches and root is not None and sums_masked(examination, root):
        missing = (
            "the denominator is a sum of exponentials of which all are masked: a row without any element left"
        )
        return Hypothesis(CAUSE, None, 0, "inconclusive", (), missing)
    return settle_by_root(hypothesis, examination, matches, "" if matches else "no denominator of 0")


def sums_masked(examination: Examination, root: Facts) -> bool:
    """Whether the denominator comes from exponentials over a mask of -inf: a softmax by hand over an empty row."""
    masked = {b["number"] for b in examination.births if b.get("constant")}
    queue, seen, exponential = list(root.get("inputs") or [])[1:], set[int](), False
    while queue and len(seen) < 40:
        number = queue.pop().get("made_by")
        op = examination.op(number)
        if op is None or number is None or number in seen:
            continue
        seen.add(number)
        exponential = exponential or op["op"] in ("exp", "exp2", "exp_")
        queue.extend(op["inputs"])
    return exponential and bool(masked & seen)


def shows(root: Facts) -> bool:
    """Whether a birth is a division whose denominator is 0."""
    if root["phase"] == "backward" and not (root.get("node") or "").startswith(NODES):
        return False
    if root["op"] in DIVISIONS:
        return number(root, 1) == 0.0
    if root["op"] in INVERSES:
        return number(root, 0) == 0.0
    exponent = number(root, 1)
    return root["op"] in ("pow", "pow_") and exponent is not None and exponent < 0 and number(root, 0) == 0.0


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    operands = root.get("operands") or []
    binary = len(operands) > 1 and root.get("op") not in ("pow", "rsqrt", "reciprocal")
    denominator = operands[1] if binary else (operands or [None])[0]
    given = examination.place(root.get("site"))
    if not isinstance(denominator, dict):
        return given | {"is_tensor": False}
    values = root.get("operands_at") or [None]
    measured = {"is_tensor": True, "dtype": denominator["dtype"], "denominator_min": denominator.get("min")}
    if len(values) > 1 and values[0] is not None:
        measured["numerator_at_zero"] = abs(float(values[0]))
    return given | measured
