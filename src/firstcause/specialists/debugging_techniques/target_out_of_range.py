"""target-out-of-range: a class label lies outside of the classes that the model gives scores for."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination
from firstcause.specialists.refusals import settle_index

CAUSE = "target-out-of-range"
OPS = frozenset({"nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in OPS


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return settle_index(hypothesis, examination, "labels", "classes that are scored")
