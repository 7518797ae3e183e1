"""What an agent adds to a case: observations of its own, which never settle a hypothesis, and a patch of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from firstcause import catalog
from firstcause.case import CaseFolder, diagnosis_hash
from firstcause.case.folder import CaseWriter
from firstcause.schema import Diagnosis, Evidence, Hypothesis

# The mark of an agent's observation among the values of its evidence.
BY = "agent"


def contributed(diagnosis: Diagnosis | None) -> list[tuple[str, Evidence]]:
    """The agent's own observations in a diagnosis, each with the cause that it speaks of."""
    hypotheses = diagnosis.hypotheses if diagnosis else ()
    return [(h.cause, e) for h in hypotheses for e in h.evidence if e.values.get("by") == BY]


def carry_over(folder: CaseFolder, mine: Iterable[tuple[str, Evidence]]) -> None:
    """Lay observations on the diagnosis that is in force now, which a new measurement made without them."""
    with folder.writing() as writer:
        case = writer.progress.case if writer.progress else None
        if case is None or case.diagnosis is None or case.state not in ("hypotheses", "diagnosed"):
            return
        diagnosis = extended = case.diagnosis
        known = contributed(diagnosis)
        for cause, evidence in mine:
            if (cause, evidence) not in known:
                extended = with_evidence(extended, cause, evidence)
        if extended != diagnosis:
            store(writer, extended)


def with_evidence(diagnosis: Diagnosis, cause: str, evidence: Evidence) -> Diagnosis:
    """The diagnosis with one more observation; a cause that it lacks becomes an open hypothesis, ranked last.

    Raises ``InputError`` for a cause that neither the case nor the catalogue knows.
    """
    hypotheses = list(diagnosis.hypotheses)
    at = next((i for i, h in enumerate(hypotheses) if h.cause == cause), None)
    if at is None:
        missing = catalog.cause(cause).experiment
        last = max((h.rank for h in hypotheses), default=0)
        hypotheses.append(Hypothesis(cause, evidence.site, last + 1, "open", (), missing))
        at = len(hypotheses) - 1
    hypotheses[at] = replace(hypotheses[at], evidence=(*hypotheses[at].evidence, evidence))
    return replace(diagnosis, hypotheses=tuple(hypotheses))


def store(writer: CaseWriter, diagnosis: Diagnosis) -> None:
    """Keep a changed diagnosis; one that establishes a cause and was proposed stays proposed."""
    proposed = writer.progress is not None and writer.progress.case.state == "diagnosed"
    writer.append("hypotheses", diagnosis=diagnosis)
    if proposed:
        writer.append("diagnosed", diagnosis_hash=diagnosis_hash(diagnosis))
