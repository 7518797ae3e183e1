"""What triage makes of a run's symptoms: whom to ask first, and what is left where nothing could be measured."""

from __future__ import annotations

from dataclasses import replace

from firstcause.diagnose.from_text import suspected, to_gather
from firstcause.errors import InputError
from firstcause.record.folder import RunFolder
from firstcause.schema import SECTIONS, Diagnosis
from firstcause.schema.triage import Triage
from firstcause.triage.conclude import conclude
from firstcause.triage.read import read

_RUN = "run.json"


def heard(folder: RunFolder) -> Triage | None:
    """The first step for what a run's symptoms say, as `firstcause triage --last` gives it; None where it sees none."""
    try:
        triage = conclude(read(folder.file(_RUN)))
    except InputError:
        # An empty or unreadable text says nothing; the record itself was read before.
        return None
    return triage if triage.action == "route" else None


def order(triage: Triage | None) -> dict[str, int]:
    """How early the words of a failure suggest each cause: the first weighs most, a cause that is absent nothing."""
    causes = [one.cause for one in triage.suspicions] if triage is not None else []
    return {cause: len(causes) - place for place, cause in enumerate(causes)}


def completed(diagnosis: Diagnosis, triage: Triage | None) -> Diagnosis:
    """The same where something was measured; else with what the words suggest, and the evidence to gather."""
    if triage is None or diagnosis.status != "not-established" or diagnosis.symptom is None:
        return diagnosis
    measured = any(h.evidence or h.status != "open" for h in diagnosis.hypotheses)
    if measured or not triage.suspicions:
        return diagnosis
    known = {h.cause for h in diagnosis.hypotheses}
    added = [h for h in suspected(triage.suspicions) if h.cause not in known]
    hypotheses = [replace(h, rank=rank) for rank, h in enumerate((*diagnosis.hypotheses, *added), 1)]
    root = f"{diagnosis.sections[SECTIONS[1]]} {to_gather(triage)}".rstrip()
    sections = {**diagnosis.sections, SECTIONS[1]: root}
    return replace(diagnosis, hypotheses=tuple(hypotheses), sections=sections)
