"""exp-overflow: an exponential of a finite value that is too large for its dtype."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import again_in_float32, number, operation
from firstcause.specialists.consequence import settle_overflow
from firstcause.specialists.examination import Examination, Facts

CAUSE = "exp-overflow"
EXPONENTIALS = frozenset(
    {"exp", "exp_", "exp2", "exp2_", "expm1", "expm1_", "cosh", "cosh_", "sinh", "sinh_"}
)
POWERS = frozenset({"pow", "pow_", "float_power"})
# A power with an exponent below this overflows by its base alone, which is no exponential's doing.
LEAST_EXPONENT = 16.0


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    why = told(root) if matches and root is not None else "no exponential of a large finite value"
    return settle_overflow(hypothesis, examination, matches, why)


def shows(root: Facts) -> bool:
    """Whether a birth is the infinity of an exponential whose argument is finite, in float32 too."""
    if root["kind"] != "inf" or root["phase"] == "backward":
        return False
    wider = root.get("wider") or {}
    if wider.get("half") == "float16" and _finite(again_in_float32(root, "alone")):
        return False
    if root["op"] in POWERS:
        exponent = number(root, 1)
        return exponent is not None and abs(exponent) >= LEAST_EXPONENT and number(root, 0) not in (0.0, None)
    argument = number(root, 0)
    return root["op"] in EXPONENTIALS and argument is not None and _finite(argument)


def told(root: Facts) -> str:
    """The argument beside the largest that the dtype can take."""
    first = next((o for o in root.get("operands") or [] if isinstance(o, dict)), {})
    if root["op"] in POWERS:
        return f"{number(root, 0):g} to the power of {number(root, 1):g} is larger than {first.get('dtype')} can hold"
    limit = {"float64": 709.78, "float16": 11.09}.get(str(first.get("dtype")), 88.72)
    return (
        f"{root['op']} of {number(root, 0):g} is inf in {first.get('dtype')}, whose limit for exp is {limit}"
    )


def _finite(value: float | None) -> bool:
    return value is not None and abs(value) != float("inf") and value == value


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    return operation(examination) | {"value": number(root, 0), "op": root.get("op")}
