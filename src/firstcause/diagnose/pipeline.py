"""From a recorded run to a diagnosis: hypotheses from each specialist in order, settled, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from firstcause.diagnose import answer, bounds, history, precedents, theories
from firstcause.diagnose.repeatable import repeatable
from firstcause.diagnose.suspicions import LEAST_STEPS, audited, suspicion
from firstcause.lab.again import with_replay
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of
from firstcause.record.supervise.calls import told
from firstcause.schema import Diagnosis, Run, Symptom
from firstcause.specialists import SPECIALISTS
from firstcause.specialists.examination import Examination


def diagnose(
    folder: RunFolder, lab: Callable[[dict[str, Any]], Lab] | None = None, said: Sequence[str] = ()
) -> Diagnosis:
    """Diagnose the first failure of a run; ``lab`` makes the place where one failure's program may be run again.

    ``said`` are the user's theories; the run's own report is read for more of them.
    Raises ``RecordError`` where the run cannot be read.
    """
    run = folder.run()
    first = run.symptoms[0] if run.symptoms else None
    # That a number fell short says less than a training that is seen to run away.
    suspected = suspicion(folder) if first is None or first.kind == "expectation" else None
    symptom = suspected.symptom if suspected is not None else first
    if suspected is not None and first is not None:
        symptom = replace(suspected.symptom, message=f"{first.message}; {suspected.symptom.message}")
    asked = theories.read(run, said)
    concluded: Diagnosis | None = None
    failure: dict[str, Any] | None = None
    examination: Examination | None = None
    if symptom is not None:
        failure = failure_of(folder, symptom)
        place = lab(failure or {}) if lab is not None else None
        failure = with_replay(folder, failure, place)
        examination = Examination(folder, run, symptom, failure, place)
        concluded = _settled(examination, asked)
        if (
            first is None
            and suspected is not None
            and not suspected.strong
            and concluded.status != "established"
        ):
            concluded = None
    if concluded is None:
        # Nothing that the record shows: the first steps are looked at more closely, where they may be run again.
        concluded = _nothing_seen(run)
        trained = concluded.status == "healthy" and len(steps_of(folder.journals().values())) >= LEAST_STEPS
        place = lab({}) if lab is not None and trained else None
        suspected = audited(place) if place is not None else None
        if suspected is not None:
            audit = Examination(folder, run, suspected.symptom, None, place)
            found = _settled(audit, asked)
            if found.status == "established":
                concluded, examination = found, audit
    concluded = bounds.told(run, failure, concluded)
    return history.characterised(folder, run, theories.answered(concluded, asked, examination))


def _settled(examination: Examination, asked: Sequence[theories.Asked]) -> Diagnosis:
    proposed = [h for specialist in SPECIALISTS for h in specialist.propose(examination)]
    settled = [
        one
        for specialist in SPECIALISTS
        for h in proposed
        if h.cause in specialist.causes
        for one in repeatable(examination, lambda s=specialist, h=h: [s.settle(h, examination)])  # type: ignore[misc]
    ]
    settled += theories.more(asked, proposed, examination)
    weights = precedents.weights(examination.run.folder, examination.symptom)
    return answer.conclude(examination, answer.ranked(settled, weights))


def failure_of(folder: RunFolder, symptom: Symptom) -> dict[str, Any] | None:
    """What was kept of the step at which a symptom was seen."""
    kind = {"nan": "nan", "exception": "exception"}.get(symptom.kind)
    alike = [f for f in folder.failures() if f["kind"] == kind and f["step"] == symptom.step]
    # Several calls may have failed, and all are without a step: the message tells which one is meant.
    return next((f for f in alike if _is_of(f, symptom)), alike[0] if alike else None)


def _is_of(failure: dict[str, Any], symptom: Symptom) -> bool:
    raised = failure.get("exception") or [None]
    return raised[0] is None or symptom.message.startswith(told(raised[0]))


def _nothing_seen(run: Run) -> Diagnosis:
    failed = next((n for n in run.notes if n.startswith("internal-error")), None)
    if failed is not None:
        return answer.unobserved(run, f"firstcause itself failed while it observed ({failed})")
    if not run.observed:
        return answer.unobserved(run, "no Python process of the command could be observed")
    return answer.healthy(run)
