"""cached-intermediate-in-checkpointed-block: the forward leaves a tensor behind that the recomputation finds."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import recomputations
from firstcause.specialists.examination import Examination, Facts

CAUSE = "cached-intermediate-in-checkpointed-block"


def propose(examination: Examination) -> bool:
    return recomputations.raised(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return recomputations.settle(hypothesis, examination, cached=True)


def facts(examination: Examination) -> Facts:
    return recomputations.facts(examination, cached=True)
