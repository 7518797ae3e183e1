"""Three strikes: what each of them asks for, and what is said when a fourth variation of an approach is proposed."""

from __future__ import annotations

from firstcause import catalog
from firstcause.case.approach import LIMIT, Approach, approach_of, related, strikes
from firstcause.case.progress import Attempt, Progress
from firstcause.errors import FirstcauseError, GateError
from firstcause.schema import Diagnosis


def require_other_approach(progress: Progress, diagnosis: Diagnosis) -> None:
    """Raises ``GateError`` with the lessons and one question where this fix is a variation struck out."""
    if not struck_out(progress, diagnosis):
        return
    failed = _variations(progress, approach_of(diagnosis))
    message = f"{len(failed)} fixes of this approach did not pass ({'; '.join(lessons(failed))})"
    raise GateError("three-strikes", message, question(progress))


def struck_out(progress: Progress, diagnosis: Diagnosis) -> bool:
    """Whether the fix of this diagnosis is a variation of what has failed three times, whatever it is called."""
    failed = [attempt.approach for attempt in progress.failed]
    return diagnosis.status == "established" and strikes(approach_of(diagnosis), failed) >= LIMIT


def lessons(failed: tuple[Attempt, ...]) -> list[str]:
    """What each attempt tried and what that taught, numbered."""
    return [f"{number}. {a.summary}: {a.lesson}" for number, a in enumerate(failed, 1)]


def counsel(progress: Progress) -> list[str]:
    """What the last strike asks for, one line each: evidence, doubt, or an answer; nothing without a strike."""
    if not progress.failed:
        return []
    last = progress.failed[-1].approach
    failed = _variations(progress, last)
    if len(failed) >= LIMIT or progress.case.state == "stopped":
        return [*lessons(failed), question(progress)]
    if len(failed) == 1:
        return [f"before another fix of this approach, measure: {_evidence_for(progress, last.cause)}"]
    diagnosis = progress.case.diagnosis
    ranked = sorted(diagnosis.hypotheses, key=lambda h: h.rank) if diagnosis else []
    place = next((f" to rank {h.rank} of {len(ranked)}" for h in ranked if h.cause == last.cause), "")
    doubt = f"two fixes for {last.cause} did not pass: the cause itself is in doubt, and falls{place}"
    other = next((h for h in ranked if h.cause != last.cause and h.status != "refuted"), None)
    if other is None:
        return [doubt, f"nothing else is left open; measure: {_evidence_for(progress, last.cause)}"]
    return [
        doubt,
        f"first now: {other.cause}; measure: {other.missing or _evidence_for(progress, other.cause)}",
    ]


def question(progress: Progress) -> str:
    """The one question for the person after the third strike."""
    failed = _variations(progress, progress.failed[-1].approach) if progress.failed else ()
    causes = sorted({attempt.approach.cause for attempt in failed})
    files = sorted({site[0] for attempt in failed for site in attempt.approach.sites})
    return (
        f"Which observation would still be there if {' and '.join(causes)} were not the cause, "
        f"and lies outside {' and '.join(files) or 'the edited lines'}?"
    )


def _variations(progress: Progress, approach: Approach) -> tuple[Attempt, ...]:
    alike = related(approach, [attempt.approach for attempt in progress.failed])
    return tuple(attempt for attempt in progress.failed if attempt.approach in alike)


def _evidence_for(progress: Progress, cause: str) -> str:
    """What would tell whether a cause holds: what the case misses of it, else what the catalogue names."""
    diagnosis = progress.case.diagnosis
    missing = [h.missing for h in diagnosis.hypotheses if h.cause == cause and h.missing] if diagnosis else []
    if missing:
        return missing[0]
    try:
        return catalog.cause(cause).refutes[0]
    except FirstcauseError:
        # Older than the catalogue, or about a cause that it has dropped.
        return f"something that would be otherwise if {cause} were not the cause"
