"""What a case has learnt, laid on its hypotheses: failed fixes and a person's word are evidence, strikes cost rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from firstcause.case.approach import Approach, approach_of, strikes
from firstcause.case.progress import Attempt, Progress
from firstcause.schema import Diagnosis, Evidence, Hypothesis

# From this strike on the hypothesis itself is in doubt, and not only its fix.
DOUBT = 2


def weighed(diagnosis: Diagnosis, progress: Progress) -> Diagnosis:
    """A new diagnosis with what this case knows already: evidence of fixes and rejections, ranks after strikes."""
    remembered = [(a.approach.cause, failed_evidence(a.lesson)) for a in progress.failed]
    remembered += [(r.cause, rejected_evidence(r.by, r.text)) for r in progress.rejections if r.cause]

    def with_memory(h: Hypothesis) -> Hypothesis:
        said = {e.text for e in h.evidence}
        more = [e for cause, e in remembered if cause == h.cause and e.text not in said]
        return replace(h, evidence=(*h.evidence, *more)) if more else h

    hypotheses = lowered(tuple(map(with_memory, diagnosis.hypotheses)), doubted(diagnosis, progress.failed))
    return diagnosis if hypotheses == diagnosis.hypotheses else replace(diagnosis, hypotheses=hypotheses)


def failed_evidence(lesson: str, values: dict[str, Any] | None = None) -> Evidence:
    return Evidence("experiment", False, f"its fix was applied and did not pass: {lesson}", values or {})


def rejected_evidence(by: str, because: str) -> Evidence:
    return Evidence("observation", False, f"{by} rejected it: {because}")


def weakened(diagnosis: Diagnosis, evidence: Evidence, failed: Sequence[Attempt] = ()) -> Diagnosis:
    """The diagnosis with evidence against its cause, which is then no longer established."""

    def with_evidence(h: Hypothesis) -> Hypothesis:
        if h.cause != diagnosis.cause:
            return h
        return replace(h, status="inconclusive", evidence=(*h.evidence, evidence))

    hypotheses = lowered(tuple(map(with_evidence, diagnosis.hypotheses)), doubted(diagnosis, failed))
    weaker = replace(diagnosis, status="not-established", cause=None, site=None, hypotheses=hypotheses)
    return replace(weaker, missing=evidence.text)


def doubted(diagnosis: Diagnosis, failed: Sequence[Attempt]) -> set[str]:
    """The causes of a diagnosis whose approach has failed at least twice."""
    approaches = [attempt.approach for attempt in failed]
    own = {h.cause: Approach(h.cause, (), ()) for h in diagnosis.hypotheses}
    if diagnosis.cause is not None:
        own[diagnosis.cause] = approach_of(diagnosis)
    return {cause for cause, approach in own.items() if strikes(approach, approaches) >= DOUBT}


def lowered(hypotheses: tuple[Hypothesis, ...], causes: Iterable[str]) -> tuple[Hypothesis, ...]:
    """Those of ``causes`` ranked behind what is not refuted; behind everything where nothing else is left."""
    causes = set(causes)
    order = sorted(hypotheses, key=lambda h: h.rank)
    fallen = [h for h in order if h.cause in causes and h.status != "refuted"]
    rest = [h for h in order if h not in fallen]
    if not fallen or not rest:
        return hypotheses
    standing = [h for h in rest if h.status != "refuted"]
    refuted = [h for h in rest if h.status == "refuted"]
    after = [*standing, *fallen, *refuted] if standing else [*refuted, *fallen]
    ranks = {h.cause: rank for rank, h in enumerate(after, 1)}
    return tuple(replace(h, rank=ranks[h.cause]) for h in hypotheses)
