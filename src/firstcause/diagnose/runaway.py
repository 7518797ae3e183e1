"""A training that ran away: whether its start, its sum or its sign lies behind what clipping would only cover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from firstcause.diagnose.suspicions import audited
from firstcause.lab.counterfactual import Lab
from firstcause.schema import SECTIONS, Diagnosis, Symptom
from firstcause.specialists.examination import Examination
from firstcause.specialists.trajectories import worth_asking

WATCHED = ("units_at_start", "sums_in_loss", "signs_of_losses")
# Clipping and a smaller rate keep trainings from running away, whatever made them do so: what is looked at behind each.
# A smaller rate is the fix of many a start and of many a sum as well; of a turned sign it never is.
BEHIND = {None: WATCHED, "exploding-gradient": WATCHED, "learning-rate-too-high": ("signs_of_losses",)}
Found = tuple[Diagnosis, Examination]


def rooted(
    examination: Examination,
    concluded: Diagnosis,
    lab: Callable[[dict[str, Any]], Lab] | None,
    establish: Callable[[dict[str, str], Examination], Found | None],
) -> Found | None:
    """The diagnosis of what was wrong from the first step on, where a run left its start and nothing deeper is proven.

    A loss that is summed, a sign that is turned and units that begin at their bound all end in numbers that are not
    finite, and the step at which they do says nothing of them. None where the run did not run away, where another
    cause is established, or where an audit of its first steps shows none of the three.
    """
    if lab is None or not worth_asking(examination):
        return None
    cause = concluded.cause if concluded.status == "established" else None
    if cause not in BEHIND:
        return None
    own = Examination(examination.folder, examination.run, Symptom("invariant", ""), None, lab({}))
    if own.lab is None:
        return None
    own.lab.watch = BEHIND[cause]
    found = establish(audited(own), own)
    if found is None:
        return None
    diagnosis, own = found
    said = concluded.sections[SECTIONS[0]].rstrip(".")
    text = f"{said}. From its first steps on: {diagnosis.sections[SECTIONS[0]]}"
    known = {h.cause for h in diagnosis.hypotheses}
    others = tuple(h for h in concluded.hypotheses if h.status == "refuted" and h.cause not in known)
    own.symptom = examination.symptom
    return replace(
        diagnosis,
        symptom=examination.symptom,
        hypotheses=(*diagnosis.hypotheses, *others),
        sections=diagnosis.sections | {SECTIONS[0]: text},
    ), own
