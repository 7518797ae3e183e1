"""broadcast-in-loss: prediction and target hold as many values in different shapes, where the loss compares them."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import aligned
from firstcause.specialists.examination import Examination, Facts

CAUSE = "broadcast-in-loss"


def propose(examination: Examination) -> bool:
    return aligned.tried(examination, loss=True)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return aligned.settle(hypothesis, examination, loss=True)


def facts(examination: Examination) -> Facts:
    return aligned.facts(examination, loss=True)
