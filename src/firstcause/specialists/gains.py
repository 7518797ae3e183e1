"""One change against the training as it ran: whether it comes further with it, and the two ends in words."""

from __future__ import annotations

import math

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination
from firstcause.specialists.losses import end, further, steadily_further

# What a training that ran away must fall to, in parts of its first loss, to be called trained.
FALLEN = 0.95


def changed(examination: Examination, arm: Arm) -> Ran | None:
    """The training with one change, over the steps that were audited; None where it may not be run again."""
    if examination.lab is None:
        return None
    return examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]


def gained(one: Ran, control: Ran) -> bool:
    """Whether the loss comes further by more than its noise, or a training that ran away is kept."""
    if control.losses and not control.finite:
        # A change of the start moves the first loss as well: what it came down by there counts.
        start = max(one.losses[0], control.losses[0]) if one.losses else 0.0
        return one.finite and len(one.losses) > 4 and end(one) < FALLEN * start
    return further(one, control) or steadily_further(one, control)


def ends(one: Ran, control: Ran) -> str:
    """The two ends, for a sentence."""
    last = end(control)
    before = f"{last:.4g}" if control.finite and math.isfinite(last) else "a value that is not finite"
    return f"the loss comes to {end(one):.4g} instead of {before} in {len(one.rows)} steps"
