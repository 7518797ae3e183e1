"""foreign-process-memory: memory of the device that neither this process nor the free part explains."""

from __future__ import annotations

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import out_of_memory
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "foreign-process-memory"


def propose(examination: Examination) -> bool:
    found = out_of_memory.refused(examination.symptom)
    return found is not None and found.is_device


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = out_of_memory.refused(examination.symptom)
    if found is None or found.others is None:
        return inconclusive(CAUSE, "how much of the device is free and how much this process holds")
    site = examination.symptom.site
    text = f"{found.told()}: without the other processes {out_of_memory.gib((found.free or 0) + found.others)} would be free"
    evidence = Evidence("observation", found.is_foreign, text, found.values(), site)
    return confirmed(CAUSE, site, evidence) if found.is_foreign else refuted(CAUSE, evidence)


def facts(examination: Examination) -> Facts:
    return {}
