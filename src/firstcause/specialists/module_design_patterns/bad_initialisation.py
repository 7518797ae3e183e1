"""bad-initialisation: weights begin equal, at zero beside others at zero, or on a scale that no depth bears."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import audits, starts, zero_products
from firstcause.specialists.examination import Examination, Facts

CAUSE = starts.INITIAL
_FORM = starts.Start(CAUSE)


def seen(found: Ran, examination: Examination) -> str | None:
    one = zero_products.shown(found)
    return zero_products.told(one) if one is not None else _FORM.seen(found, examination)


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and seen(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return zero_products.settled(CAUSE, examination) or _FORM.settle(hypothesis, examination)


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = zero_products.shown(found) if found is not None else None
    if one is not None:
        return {"zeros": {"class": one["class"], "name": one["names"][0]}}
    return _FORM.facts(examination)
