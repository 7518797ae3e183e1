"""A schedule's clock against the training's: the calls that it was made for, and those that it got."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL, Arm, Ran
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.gains import gained

EACH_STEP = Arm("the schedule stepped after each optimizer step", "schedule_clock")
LEAST_CALLS, LEAST_BATCHES = 4, 3
# The rate is below a hundredth of its start before this share of the run is over.
EARLY = 1 / 3
# How near the number of steps lies to what a schedule was made for.
NEAR = 0.2
MOST_STEPS = 600


def per_batch(found: Ran, examination: Examination) -> Facts | None:
    """A schedule that is stepped with the optimizer and is over in the first part of the run."""
    for one in found.facts.get("schedules") or []:
        batches, total = one["batches"] or 0, max(one["steps"], len(examination.rows))
        with_each = one["calls"] >= LEAST_CALLS and one["calls"] >= 0.9 * one["steps"]
        if not with_each or batches < LEAST_BATCHES or total < 2 * batches:
            continue
        epochs = total / batches
        over = one["floor_at"] is not None and one["floor_at"] <= EARLY * total
        counted = one["end"] is not None and one["end"] <= 1.5 * epochs and 2 * one["end"] <= one["calls"]
        if over or counted:
            return dict(one) | {"total": total, "epochs": round(epochs)}
    return None


def per_epoch(found: Ran, examination: Examination) -> Facts | None:
    """A schedule that was made for the optimizer's steps and is stepped far more rarely."""
    for one in found.facts.get("schedules") or []:
        total = max(one["steps"], len(examination.rows))
        rare = one["steps"] >= 3 * max(one["calls"], 1)
        made_for_steps = one["end"] is not None and abs(one["end"] - total) <= NEAR * total
        if rare and made_for_steps and total >= 4 * LEAST_BATCHES:
            return dict(one) | {"total": total, "epochs": None}
    return None


def on_its_clock(examination: Examination, one: Facts, each_step: bool) -> tuple[Ran, Ran] | None:
    """The training with the schedule on the clock that it was made for, and as it ran, over as many steps."""
    if examination.lab is None:
        return None
    arm = EACH_STEP if each_step else every(one["batches"])
    steps = examination.lab.horizon(max(audits.STEPS, min(3 * (one["batches"] or 0), MOST_STEPS)))
    ran = examination.lab.from_start([arm, CONTROL], steps)
    return ran[arm.name], ran[CONTROL.name]


def every(batches: int) -> Arm:
    """The schedule at every n-th of its calls."""
    return Arm(f"the schedule stepped at every {batches}th call", "schedule_clock", {"every": batches})


def helps(pair: tuple[Ran, Ran]) -> bool:
    """Whether the training comes further on the other clock."""
    return gained(*pair)
