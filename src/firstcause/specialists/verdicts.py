"""The ways in which a hypothesis is settled: confirmed or refuted by evidence, or inconclusive for want of it."""

from __future__ import annotations

from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.specialists.examination import Examination, Facts


def confirmed(cause: str, site: Site | None, *evidence: Evidence) -> Hypothesis:
    """The mechanism was seen at work, at this place."""
    return Hypothesis(cause, site, 0, "confirmed", evidence)


def refuted(cause: str, *evidence: Evidence) -> Hypothesis:
    """What the cause predicts does not hold."""
    return Hypothesis(cause, None, 0, "refuted", evidence)


def inconclusive(cause: str, missing: str, *evidence: Evidence) -> Hypothesis:
    """Neither way; ``missing`` names the evidence that would tell."""
    return Hypothesis(cause, None, 0, "inconclusive", evidence, missing)


def by_replay(
    hypothesis: Hypothesis,
    examination: Examination,
    matches: bool,
    text: str,
    values: Facts,
    site: Site | None,
) -> Hypothesis:
    """Confirmed at ``site``, or refuted, by what the replay measured."""
    evidence = examination.replayed(matches, text, values, site)
    return confirmed(hypothesis.cause, site, evidence) if matches else refuted(hypothesis.cause, evidence)


def nothing_refused(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    """Inconclusive: the cause shows in a call that is refused, and none is known here."""
    call = examination.trace.get("call") or {}
    if "failed" in call:
        missing = f"the call that was refused: it could not be looked at ({call['failed']})"
    elif examination.symptom.kind != "exception":
        missing = "a call that is refused: this failure is no exception"
    else:
        missing = examination.not_replayed or "a call that is refused: the replay saw none of this kind"
    return inconclusive(hypothesis.cause, missing)
