"""A schedule's clock against the training's: the calls that it was made for, and those that it got."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

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
# The same for a schedule that does not say that it counts steps.
EXACT = 0.02
MOST_STEPS = 600
# A warm-up of at least so many times the calls that a whole run makes is none of these calls'; a run of fewer is a trial.
UNREACHED, LEAST_PASSES = 3, 3
STEPS_NAMED = re.compile(r"step|iter(?!able)|batch|update|loader", re.IGNORECASE)
PARTS = ("LinearLR", "SequentialLR", "ChainedScheduler")
EPOCHS_NAMED = re.compile(r"epoch", re.IGNORECASE)


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
        if not rare or total < 4 * LEAST_BATCHES:
            continue
        shape: Facts = one.get("shape") or {}
        given = dict(one) | {"total": total, "epochs": None, "warm_up": None}
        is_factor = bool(shape.get("words"))
        settled = shape.get("settled") if is_factor else None
        ends = [n for n in (one["end"], settled) if n is not None]
        # A rise alone is over where it is warm.
        only_rises = ends == [shape.get("warm_up")]
        end = next((n for n in ends if abs(n - total) <= NEAR * total), None)
        # Where a factor levels out says less than where it comes to nothing.
        doubtful = is_factor and _counts_epochs(one, examination)
        if end is not None and end == settled and end != one["end"] and abs(end - total) > EXACT * total:
            doubtful = doubtful or not _says_steps(one, examination)
        if end is not None and not doubtful:
            return given | {"end": end, "warm_up": shape.get("warm_up")}
        if (not ends or only_rises) and _never_warm(one, total) and _counts_steps(one, examination):
            return given | {"end": None, "warm_up": shape["warm_up"]}
    return None


def _never_warm(one: Facts, total: int) -> bool:
    """Whether all calls of the run are a small part of the warm-up, which the run's steps would have come through."""
    warm: int | None = (one.get("shape") or {}).get("warm_up")
    if warm is None or not one["steps"]:
        return False
    calls = max(one["calls"], one["calls"] * total / one["steps"], total / (one["batches"] or total))
    return bool(calls >= LEAST_PASSES and UNREACHED * calls <= warm <= total)


def _counts_epochs(one: Facts, examination: Examination) -> bool:
    """Whether the names in a schedule's numbers say epochs, and none says steps."""
    return _says_epochs(one, examination) and not _says_steps(one, examination)


def _counts_steps(one: Facts, examination: Examination) -> bool:
    return _says_steps(one, examination) and not _says_epochs(one, examination)


def _says_epochs(one: Facts, examination: Examination) -> bool:
    return any(map(EPOCHS_NAMED.search, _names(one, examination)))


def _says_steps(one: Facts, examination: Examination) -> bool:
    return any(map(STEPS_NAMED.search, _names(one, examination)))


def _names(one: Facts, examination: Examination) -> Iterator[str]:
    """The names in a schedule's factor, and those in what the program gives to the making of such schedules."""
    words: list[str] = (one.get("shape") or {}).get("words") or []
    yield from words
    for module in examination.project.modules if examination.project is not None else ():
        for call in module.nodes(ast.Call):
            made = module.segment(call.func).rpartition(".")[2]
            if made == one["class"] or made in PARTS or re.match(r"get_\w*schedul", made):
                given = [
                    n for part in (*call.args, *(k.value for k in call.keywords)) for n in ast.walk(part)
                ]
                yield from (n.id for n in given if isinstance(n, ast.Name))
                yield from (n.attr for n in given if isinstance(n, ast.Attribute))
                yield from (
                    n.value for n in given if isinstance(n, ast.Constant) and isinstance(n.value, str)
                )


def on_its_clock(examination: Examination, one: Facts, each_step: bool) -> tuple[Ran, Ran] | None:
    """The training with the schedule on the clock that it was made for, and as it ran, over as many steps."""
    if examination.lab is None:
        return None
    arm = EACH_STEP if each_step else every(one["batches"])
    # A warm-up that has just begun gains nothing yet.
    wanted = max(3 * (one["batches"] or 0), 2 * (one.get("warm_up") or 0))
    steps = examination.lab.horizon(max(audits.STEPS, min(wanted, MOST_STEPS)))
    ran = examination.lab.from_start([arm, CONTROL], steps)
    return ran[arm.name], ran[CONTROL.name]


def every(batches: int) -> Arm:
    """The schedule at every n-th of its calls."""
    return Arm(f"the schedule stepped at every {batches}th call", "schedule_clock", {"every": batches})


def helps(pair: tuple[Ran, Ran]) -> bool:
    """Whether the training comes further on the other clock."""
    return gained(*pair)
