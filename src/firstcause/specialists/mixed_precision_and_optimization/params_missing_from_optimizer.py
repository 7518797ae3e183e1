"""params-missing-from-optimizer: parameters of the model get gradients and are in no group of an optimizer."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import audits, left_out
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import inconclusive

CAUSE = "params-missing-from-optimizer"


def seen(found: Ran, examination: Examination) -> str | None:
    others = left_out.unregistered(found) or left_out.replaced(found)
    if not left_out.missing(found) or others or left_out.left_on_purpose(found, examination):
        return None
    return left_out.told(found)


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and seen(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    told = seen(found, examination) if found is not None else None
    if found is None or told is None:
        return inconclusive(CAUSE, "parameters with gradients that no optimizer holds")
    return left_out.settle(CAUSE, examination, found, told)


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    if found is None:
        return {}
    return {"missing": [{k: p[k] for k in ("name", "root")} for p in left_out.missing(found)]}
