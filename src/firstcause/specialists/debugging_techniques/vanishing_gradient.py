"""vanishing-gradient: squashing functions between the layers leave the first ones no gradient."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import starts
from firstcause.specialists.examination import Examination, Facts

CAUSE = starts.VANISHING


def seen(found: Ran, examination: Examination) -> str | None:
    return starts.seen(CAUSE, found)


def propose(examination: Examination) -> bool:
    return starts.propose(CAUSE, examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return starts.settle(CAUSE, examination)


def facts(examination: Examination) -> Facts:
    return starts.facts(CAUSE, examination)
