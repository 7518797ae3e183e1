"""std-of-single-element: the unbiased spread of one value, whose denominator n - 1 is 0."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.births import settle_by_root
from firstcause.specialists.examination import Examination, Facts

CAUSE = "std-of-single-element"


def propose(examination: Examination) -> bool:
    return examination.has_bad_value


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    root = examination.root
    matches = root is not None and shows(root)
    why = told(root) if matches and root is not None else "no spread of one value"
    return settle_by_root(hypothesis, examination, matches, why, after_divergence=True)


def shows(root: Facts) -> bool:
    """Whether a birth is a std or var over no more values than its correction subtracts; over none it is empty."""
    spread = root.get("spread")
    return spread is not None and 0 < spread["values"] <= spread["correction"]


def told(root: Facts) -> str:
    spread = root["spread"]
    return (
        f"{root['op']} of {spread['values']} value (input of shape {spread['shape']}) divides by "
        f"{spread['values']} - {spread['correction']:g} = 0"
    )


def facts(examination: Examination) -> Facts:
    root = examination.root or {}
    return examination.place(root.get("site")) | {"values": (root.get("spread") or {}).get("values")}
