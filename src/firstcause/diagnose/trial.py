"""The experiment that a patch is: the program with it, and nothing else changed, in a throw-away copy."""

from __future__ import annotations

from dataclasses import replace

from firstcause.errors import InputError
from firstcause.fix.verification import try_in_copy
from firstcause.record.folder import RunFolder
from firstcause.schema import SECTIONS, Diagnosis, Evidence

LEAST_SECONDS = 5.0
PROPOSED = SECTIONS[3]


def try_fix(folder: RunFolder, diagnosis: Diagnosis, budget: float) -> Diagnosis:
    """Try the diagnosis's patch; a patch that does not remove the symptom is withdrawn, and that is said.

    The cause stays as the replay established it: a failed patch may be a bad patch for the right cause. So does a patch
    that no copy could be made for, or that a copy may not run.
    """
    run = folder.run()
    if diagnosis.fix is None or budget < max(LEAST_SECONDS, run.seconds or 0.0):
        return diagnosis
    silent = diagnosis.cause if diagnosis.symptom and diagnosis.symptom.kind == "invariant" else None
    try:
        trial = try_in_copy(folder.path, run.folder, diagnosis.fix.diff, budget, silent=silent)
    except InputError as error:
        sections = diagnosis.sections | {
            PROPOSED: f"{diagnosis.sections[PROPOSED]} It was not tried in a copy: {error.message}."
        }
        return replace(diagnosis, sections=sections)
    evidence = Evidence(
        "experiment",
        trial.passed,
        f"with the patch, in a copy: {trial.text}",
        dict(trial.values) | {"diff": diagnosis.fix.diff, "silent": silent},
    )
    hypotheses = tuple(
        replace(h, evidence=(*h.evidence, evidence))
        if h.cause == diagnosis.cause and (trial.passed or h.evidence)
        else h
        for h in diagnosis.hypotheses
    )
    if trial.passed:
        return replace(diagnosis, hypotheses=hypotheses)
    sections = diagnosis.sections | {PROPOSED: f"A patch was tried in a copy and withdrawn: {trial.text}"}
    return replace(diagnosis, hypotheses=hypotheses, fix=None, sections=sections)
