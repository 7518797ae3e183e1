"""accumulation-not-divided: losses that are means are summed over the micro-batches of a step."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL
from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.trajectories import CLIPPED, DIVIDED, SLOWER, trajectories, worth_asking
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "accumulation-not-divided"


def propose(examination: Examination) -> bool:
    return worth_asking(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if not worth_asking(examination):
        missing = "whether the training runs away, which it did not before it failed"
        return inconclusive(CAUSE, missing)
    found = trajectories(examination)
    if isinstance(found, str):
        return inconclusive(CAUSE, found)
    arms = [CONTROL, DIVIDED, SLOWER, CLIPPED]
    if found.calls < 2:
        text = "each step follows one backward call, so nothing is accumulated"
        return refuted(CAUSE, found.evidence(False, [CONTROL], text))
    if not found.trains(DIVIDED):
        text = f"averaging the gradients of {found.calls} backward calls does not keep the training"
        return refuted(CAUSE, found.evidence(False, arms, text))
    if found.control.divided:
        missing = f"the losses of {found.calls} backward calls are divided already, and dividing once more keeps the training"
        return inconclusive(CAUSE, missing)
    text = (
        f"{found.calls} backward calls add up before each step and none of their losses is divided: "
        f"averaged, at the same learning rate, the training holds"
    )
    return confirmed(CAUSE, None, found.evidence(True, arms, text))


def facts(examination: Examination) -> Facts:
    found = trajectories(examination)
    if isinstance(found, str):
        return {}
    return examination.place(found.control.rows[0].get("site")) | {"calls": found.calls}
