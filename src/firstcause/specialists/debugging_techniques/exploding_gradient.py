"""exploding-gradient: single gradients grow through depth or time, and clipping them alone trains."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL
from firstcause.record.journal import finite
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.trajectories import (
    CLIPPED,
    DIVIDED,
    SLOWER,
    SLOWEST,
    trajectories,
    worth_asking,
)
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "exploding-gradient"


def propose(examination: Examination) -> bool:
    return worth_asking(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if not worth_asking(examination):
        return _calm(examination)
    found = trajectories(examination)
    if isinstance(found, str):
        return inconclusive(CAUSE, found)
    arms = [CONTROL, CLIPPED, SLOWER, SLOWEST]
    if not (found.trains(CLIPPED) or (found.burst is not None and found.recovers(CLIPPED))):
        text = "clipping the gradients at norm 1 alone does not keep the training"
        return refuted(CAUSE, found.evidence(False, arms, text))
    if found.calls > 1 and found.kept(DIVIDED):
        text = "the gradients are large because they are summed over backward calls"
        return refuted(CAUSE, found.evidence(False, [*arms, DIVIDED], text))
    burst = found.burst
    if burst is None and found.kept(SLOWER):
        text = "a smaller learning rate alone keeps it too, and no gradient stood out before the losses left"
        return refuted(CAUSE, found.evidence(False, arms, text))
    first = found.control.column("grad_norm")[0]
    if burst is not None:
        text = f"the gradient norm jumped from {burst[1]:.3g} to {burst[0]:.3g} while the loss was still near its start"
    else:
        text = f"the gradient norm is {first:.3g} at the first step already, and a tenth of the learning rate does not help"
    return confirmed(CAUSE, None, found.evidence(True, arms, f"{text}; clipped, it trains"))


def _calm(examination: Examination) -> Hypothesis:
    norms = finite(examination.rows, "grad_norm")
    if not norms:
        return inconclusive(CAUSE, "no step was recorded before the one that failed")
    text = f"the gradient norms of the {len(norms)} steps before stayed between {min(norms):.3g} and {max(norms):.3g}"
    return refuted(CAUSE, Evidence("observation", False, text, {"norms": norms[-20:]}))


def facts(examination: Examination) -> Facts:
    found = trajectories(examination)
    if isinstance(found, str):
        return {}
    return examination.place(found.control.rows[0].get("step_site"))
