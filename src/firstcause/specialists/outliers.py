"""Rows of the failing step's data that lie far outside of the others, and what a step or a training does without them."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL, Arm, Ran
from firstcause.specialists.births import number
from firstcause.specialists.examination import Examination, Facts

# Ops that are infinite at a value of their own, 0 or 1, however small all values are.
POLES = ("div", "true_divide", "reciprocal", "rsqrt", "log", "atanh", "tan", "remainder", "fmod")
WITHOUT = Arm("the rows far outside replaced by another row", "drop_rows", {"which": "outliers"})
OTHERS = Arm("as many other rows replaced", "drop_rows", {"which": "others"})


def suspects(examination: Examination) -> Facts | None:
    """The farthest rows of the failing step's data, as measured; those first in which the first bad value was born.

    None where the first bad value is no overflow: a pole or a mask is met by ordinary rows too.
    """
    rows = list(examination.trace.get("outliers") or [])
    if not rows or not overflows(examination.root):
        return None
    best: Facts = max(rows, key=lambda f: (born_in(examination.root, f) is True, f["scores"][0]))
    return best


def overflows(root: Facts | None) -> bool:
    """Whether a birth is a finite result too large for its dtype."""
    if root is None or root["kind"] != "inf" or root["op"] == "source":
        return False
    exponent = number(root, 1)
    is_inverse = root["op"].startswith("pow") and exponent is not None and exponent < 0
    return not is_inverse and not root["op"].startswith(POLES)


def born_in(root: Facts | None, found: Facts) -> bool | None:
    """Whether all bad rows of a birth are among the rows; None where the birth has no such axis, as a loss has none."""
    shape = ((root or {}).get("output") or {}).get("shape") or []
    batch = (found.get("origin") or {}).get("shape") or found.get("shape") or []
    if root is None or not shape or not batch or shape[0] != batch[0] or root["op"] == "source":
        return None
    return root["rows"] <= found["count"] and set(root["first_rows"]) <= set(found["rows"])


def without_them(examination: Examination) -> tuple[Ran, Ran, Ran] | str:
    """The failing step as it was, without the rows, and without as many others; or why it was not tried."""
    if examination.lab is None:
        return "diagnose with --yes"
    wanted = (CONTROL, WITHOUT, OTHERS)
    arms = examination.lab.from_failure(wanted)
    control, without, others = (arms[a.name] for a in wanted)
    for ran in (control, without, others):
        if ran.ended == "lost":
            return ran.why
        if ran.ended == "exception":
            return f"{ran.name}: it raised {(ran.exception or {}).get('message')}"
    return "the step was finite when it was repeated" if control.finite else (control, without, others)


def told(found: Facts) -> str:
    """How far outside, and how far the others reach."""
    name = (found.get("name") or {}).get("name")
    of = (found.get("origin") or {}).get("shape") or found.get("shape") or ["?"]
    rows = ", ".join(map(str, found["rows"]))
    return (
        f"row {rows} of the {of[0]} rows of {name or 'the data'} holds {found['values'][0]:g} in column "
        f"{found['columns'][0]}, {found['scores'][0]:.3g} robust deviations from the median {found['medians'][0]:.3g}; "
        f"no other row passes {found['rest']:.3g}"
    )
