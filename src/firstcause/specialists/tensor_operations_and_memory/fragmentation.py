"""fragmentation: what lies idle in the allocator's own pool would be enough, in one piece."""

from __future__ import annotations

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import out_of_memory
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "fragmentation"


def propose(examination: Examination) -> bool:
    found = out_of_memory.refused(examination.symptom)
    return found is not None and found.is_device


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = out_of_memory.refused(examination.symptom)
    if found is None or found.tried is None or found.idle is None:
        return inconclusive(CAUSE, "how much the allocator has reserved and not handed out")
    site = examination.symptom.site
    more = "more" if found.is_fragmented else "less"
    text = f"{found.told()}: what is reserved and in no use is {more} than what was asked for"
    is_mine = found.is_fragmented and not found.is_foreign
    evidence = Evidence("observation", is_mine, text, found.values(), site)
    return confirmed(CAUSE, site, evidence) if is_mine else refuted(CAUSE, evidence)


def facts(examination: Examination) -> Facts:
    return {}
