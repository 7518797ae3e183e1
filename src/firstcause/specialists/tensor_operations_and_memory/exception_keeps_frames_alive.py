"""exception-keeps-frames-alive: kept exceptions hold the frames of their tracebacks, and those the tensors."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import audits, growth
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import inconclusive

CAUSE = "exception-keeps-frames-alive"


def seen(found: Ran, examination: Examination) -> str | None:
    mine = _mine(found)
    return growth.told(mine) if mine else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and bool(_mine(found))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    mine = _mine(found) if found is not None else {}
    if not mine:
        return inconclusive(CAUSE, "an audit of the training in which memory grows")
    return growth.settle(CAUSE, examination, mine)


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    mine = _mine(found) if found is not None else {}
    return growth.facts(examination, mine) if mine else {}


def _mine(found: Ran) -> Facts:
    seen = growth.growth(found)
    return seen if seen and seen["exception"] else {}
