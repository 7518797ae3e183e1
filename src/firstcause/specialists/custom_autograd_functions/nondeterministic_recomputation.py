"""nondeterministic-recomputation: a checkpointed block takes another way when it is computed the second time."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import recomputations
from firstcause.specialists.examination import Examination, Facts

CAUSE = "nondeterministic-recomputation"


def propose(examination: Examination) -> bool:
    return recomputations.raised(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return recomputations.settle(hypothesis, examination, cached=False)


def facts(examination: Examination) -> Facts:
    return recomputations.facts(examination, cached=False)
