"""From a recorded run to a diagnosis: hypotheses from each specialist in order, settled, and the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firstcause.diagnose import answer
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis, Hypothesis, Symptom
from firstcause.specialists import SPECIALISTS
from firstcause.specialists.examination import Examination


def diagnose(folder: RunFolder) -> Diagnosis:
    """Diagnose the first failure of a run.

    Raises ``RecordError`` where the run cannot be read.
    """
    run = folder.run()
    if not run.symptoms:
        failed = next((n for n in run.notes if n.startswith("internal-error")), None)
        if failed is not None:
            return answer.unobserved(run, f"firstcause itself failed while it observed ({failed})")
        if not run.observed:
            return answer.unobserved(run, "no Python process of the command could be observed")
        return answer.healthy(run)
    symptom = run.symptoms[0]
    examination = Examination(folder, run, symptom, failure_of(folder, symptom))
    proposed = [h for specialist in SPECIALISTS for h in specialist.propose(examination)]
    settled = [
        specialist.settle(h, examination)
        for specialist in SPECIALISTS
        for h in proposed
        if h.cause in specialist.causes
    ]
    return answer.conclude(examination, ranked(settled))


def failure_of(folder: RunFolder, symptom: Symptom) -> dict[str, Any] | None:
    """What was kept of the step at which a symptom was seen."""
    kind = {"nan": "nan", "exception": "exception"}.get(symptom.kind)
    return next((f for f in folder.failures() if f["kind"] == kind and f["step"] == symptom.step), None)


def ranked(hypotheses: list[Hypothesis]) -> tuple[Hypothesis, ...]:
    """Confirmed first, then what is still open or inconclusive, then the refuted."""
    order = {"confirmed": 0, "open": 1, "inconclusive": 1, "refuted": 2}
    result = sorted(hypotheses, key=lambda h: order[h.status])
    return tuple(replace(h, rank=i) for i, h in enumerate(result, 1))
