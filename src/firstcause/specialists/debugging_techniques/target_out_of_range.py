"""target-out-of-range: a class label lies outside of the classes that the model gives scores for."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination
from firstcause.specialists.refusals import settle_refusal

CAUSE = "target-out-of-range"
OPS = frozenset({"nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and refused["op"] in OPS


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    index = (examination.refused or {}).get("index")
    if not index or not index["outside"]:
        return settle_refusal(
            hypothesis, examination, False, "every label is one of the classes", index or {}
        )
    classes = f"{index['rows']} classes (0 to {index['rows'] - 1})"
    text = f"{index['outside']} of {index['total']} labels lie outside of {classes}: {index['values']} at {index['at']}"
    return settle_refusal(hypothesis, examination, True, text, index)
