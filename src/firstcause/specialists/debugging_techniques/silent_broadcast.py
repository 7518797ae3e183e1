"""silent-broadcast: two operands of as many values in different shapes gave a larger one, or one was laid along the other."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import aligned, audits, widths
from firstcause.specialists.examination import Examination, Facts

CAUSE = "silent-broadcast"


def seen(found: Ran, examination: Examination) -> str | None:
    one = widths.met(found)
    # A square product is common: only one that another number of samples would not fit is worth a word.
    return widths.told(one) if one is not None and widths.refused(examination, one) else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    if found is not None:
        return seen(found, examination) is not None
    return aligned.tried(examination, loss=False)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    one = _met(examination)
    if one is not None:
        return widths.settle(hypothesis, examination, one)
    return aligned.settle(hypothesis, examination, loss=False)


def facts(examination: Examination) -> Facts:
    one = _met(examination)
    return widths.facts(examination, one) if one is not None else aligned.facts(examination, loss=False)


def _met(examination: Examination) -> Facts | None:
    found = audits.audit(examination)
    return widths.met(found) if found is not None else None
