"""target-out-of-range: a class label lies outside of the classes that the model gives scores for."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.refusals import settle_index

CAUSE = "target-out-of-range"
OPS = frozenset({"nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d"})
SCORES = frozenset({"log_softmax", "softmax"})


def propose(examination: Examination) -> bool:
    refused = examination.refused
    return refused is not None and (refused["op"] in OPS or _picks(refused, examination))


def _picks(refused: Facts, examination: Examination) -> bool:
    """Whether the labels pick from log-probabilities by ``gather``, as losses do that are written by hand."""
    first = next((o for o in refused.get("operands") or [] if isinstance(o, dict)), {})
    maker = examination.op(first.get("made_by"))
    return refused["op"] == "gather" and maker is not None and maker["op"].strip("_") in SCORES


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    return settle_index(hypothesis, examination, "labels", "classes that are scored")


def facts(examination: Examination) -> Facts:
    refused = examination.refused or {}
    index = refused.get("index") or {}
    given = examination.place(refused.get("site")) | {"n_classes": index.get("rows")}
    given |= {
        "target_min": index.get("min"),
        "target_max": index.get("max"),
        "targets_count": index.get("total"),
    }
    if index.get("ignored") is not None:
        given["outside"] = list(index.get("values") or ())
    logits: Facts = next((o for o in refused.get("operands") or [] if isinstance(o, dict)), {})
    for _ in range(8):
        # From the loss back to the module that made the scores.
        op = examination.op(logits.get("made_by"))
        if op is None or op.get("module") or not op["inputs"]:
            break
        logits = op["inputs"][0]
    op = examination.op(logits.get("made_by"))
    return given | examination.owner(op.get("module") if op else None)
