"""silent-broadcast: two operands of as many values in different shapes gave a larger one, which fails later."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import aligned
from firstcause.specialists.examination import Examination, Facts

CAUSE = "silent-broadcast"


def propose(examination: Examination) -> bool:
    return aligned.tried(examination, loss=False)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return aligned.settle(hypothesis, examination, loss=False)


def facts(examination: Examination) -> Facts:
    return aligned.facts(examination, loss=False)
