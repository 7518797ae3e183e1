"""division-by-zero: a denominator is exactly 0."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import number, settle_by_root
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.first_made import divided_in_program, evidence, first_made
from firstcause.specialists.ignored_targets import all_ignored
from firstcause.specialists.masking import masked_row
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "division-by-zero"
DIVISIONS = frozenset({"div", "div_", "true_divide", "divide", "floor_divide", "remainder", "fmod"})
INVERSES = frozenset({"reciprocal", "reciprocal_", "rsqrt", "rsqrt_"})
NODES = ("DivBackward", "ReciprocalBackward", "RsqrtBackward", "RemainderBackward")


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    if root is not None and root["op"] == "source" and root.get("whole_columns"):
        return _before_the_loop(hypothesis, examination)
    made = divided_in_program(examination)
    if isinstance(made, str):
        return inconclusive(hypothesis.cause, made)
    if made is not None and made["divided"]:
        seen, site = evidence(examination, made, True)
        return confirmed(hypothesis.cause, site, seen)
    matches = root is not None and shows(root)
    if root is not None and matches and all_ignored(examination, root):
        return settle_by_root(hypothesis, examination, False, "a mean over targets that are all ignored")
    masked = masked_row(examination) if matches else None
    if masked is not None:
        return settle_by_root(hypothesis, examination, False, f"a row without any key: {masked.text}")
    return settle_by_root(hypothesis, examination, matches, "" if matches else "no denominator of 0")


def _before_the_loop(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    """Whether the preparation of the data divided whole columns by 0."""
    made = first_made(examination)
    if isinstance(made, str):
        return inconclusive(hypothesis.cause, made)
    seen, site = evidence(examination, made, bool(made["divided"]))
    if not made["divided"]:
        return refuted(hypothesis.cause, seen)
    return confirmed(hypothesis.cause, site, seen)


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
    made = first_made(examination) if root.get("whole_columns") else divided_in_program(examination)
    if isinstance(made, dict) and (root.get("whole_columns") or made["divided"]):
        of_matrix = not root.get("whole_columns")
        counts = of_matrix and made["divided"][0].get("counts", False)
        given = {"is_tensor": False, "before_the_loop": True, "of_matrix": of_matrix, "counts": counts}
        return examination.place(made["site"]) | given
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
