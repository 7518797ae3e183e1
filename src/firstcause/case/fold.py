"""The state machine of a case: a pure fold over its events; only here is the order of steps known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import get_args

from firstcause.case.approach import LIMIT, approach_of, strikes
from firstcause.case.event import Event
from firstcause.case.gate import diagnosis_hash, diff_hash, require_answers, require_ready
from firstcause.case.progress import Applied, Approval, Attempt, Change, Progress, Remark
from firstcause.case.strikeout import question, require_other_approach
from firstcause.errors import GateError, InputError, RecordError
from firstcause.schema import CASE_SCHEMA, Case, Diagnosis, Evidence, Hypothesis, State, from_plain

# The states in which each event may happen; "opened" begins a case and stands for itself.
ALLOWED: dict[str, tuple[str, ...]] = {
    "characterised": ("open",),
    "hypotheses": ("characterised", "hypotheses", "diagnosed", "approved", "stopped"),
    "diagnosed": ("hypotheses",),
    "rejected": ("diagnosed", "approved", "fixed"),
    "approved": ("diagnosed",),
    "applying": ("approved",),
    "applied": ("approved",),
    "voided": ("fixed",),
    "verified": ("fixed",),
    "tried": ("hypotheses", "diagnosed", "approved", "fixed", "verified", "stopped"),
    "closed": ("characterised", "hypotheses", "diagnosed", "verified", "stopped"),
    "recovered": get_args(State),
}
_NEXT = {
    "diagnosed": "firstcause case approve",
    "approved": "firstcause case apply",
    "fixed": "firstcause case verify",
    "verified": "firstcause case close --lesson TEXT",
    "closed": "firstcause case list",
    "stopped": "firstcause case show",
}


def next_step(progress: Progress) -> str:
    """The command that takes a case one step further."""
    diagnose = f"firstcause diagnose {progress.run_folder}"
    return _NEXT.get(progress.case.state, diagnose)


def fold(events: Iterable[Event]) -> Case:
    """The case that a history amounts to; raises ``RecordError`` where it breaks the order of steps."""
    return progress_of(events).case


def progress_of(events: Iterable[Event]) -> Progress:
    """Everything that a history says; raises ``RecordError`` for a history that breaks the order of steps."""
    progress: Progress | None = None
    for event in events:
        try:
            progress = advance(progress, event)
        except (GateError, InputError, AttributeError, KeyError, TypeError, ValueError) as error:
            message = f"event {event.seq} ({event.event}) cannot have happened: {error}"
            raise RecordError("case-damaged", message, "the history was written by something else") from error
    if progress is None:
        raise RecordError("case-empty", "the history holds no event", "diagnose the run again")
    return progress


def advance(progress: Progress | None, event: Event) -> Progress:
    """The progress after one more event; raises ``GateError`` where the event comes before its time."""
    if progress is None:
        return _opened(event)
    state = progress.case.state
    if event.event not in ALLOWED or state not in ALLOWED[event.event]:
        message = f"case {progress.case.id} is {state}: {event.event} has no place there"
        raise GateError("step-out-of-order", message, next_step(progress))
    after = _STEPS[event.event](progress, event)
    return replace(after, updated=event.time, events=progress.events + 1)


def _opened(event: Event) -> Progress:
    if event.event != "opened" or event.data["schema"] != CASE_SCHEMA:
        raise ValueError(f"a case of version {CASE_SCHEMA} begins with 'opened'")
    case = Case(id=event.data["id"], run=event.data["run"], state="open", opened=event.time)
    return Progress(case=case, run_folder=event.data["run_folder"], updated=event.time, events=1)


def _characterised(progress: Progress, event: Event) -> Progress:
    return replace(progress, case=replace(progress.case, state="characterised"))


def _hypotheses(progress: Progress, event: Event) -> Progress:
    if progress.applied is not None:
        hint = "firstcause case apply finishes it"
        raise GateError("apply-unfinished", "the approved patch is only in a part of its files", hint)
    diagnosis = from_plain(Diagnosis, event.data["diagnosis"])
    if progress.case.state == "stopped":
        if diagnosis.status != "established":
            raise GateError("three-strikes", f"case {progress.case.id} is stopped", question(progress))
        require_other_approach(progress, diagnosis)
    case = replace(progress.case, state="hypotheses", diagnosis=diagnosis)
    return replace(progress, case=case, first=progress.first or diagnosis, approval=None)


def _diagnosed(progress: Progress, event: Event) -> Progress:
    diagnosis = _in_force(progress)
    if diagnosis.status != "established" or event.data["diagnosis_hash"] != diagnosis_hash(diagnosis):
        message = "this diagnosis does not establish a cause"
        raise GateError("cause-not-established", message, next_step(progress))
    require_other_approach(progress, diagnosis)
    return replace(progress, case=replace(progress.case, state="diagnosed"))


def _rejected(progress: Progress, event: Event) -> Progress:
    because, by = event.data["because"], event.data["by"]
    if not because.strip():
        hint = "firstcause case reject --because TEXT"
        raise GateError("reason-missing", "a rejection needs its reason", hint)
    evidence = Evidence("observation", False, f"{by} rejected it: {because}")
    attempts = progress.attempts
    if progress.case.state == "fixed":
        attempts = _settle(attempts, None, f"withdrawn without a verification: {because}")
    case = replace(progress.case, state="hypotheses", diagnosis=_weakened(_in_force(progress), evidence))
    remark = Remark(event.time, by, because)
    rejections = (*progress.rejections, remark)
    return replace(progress, case=case, approval=None, applied=None, attempts=attempts, rejections=rejections)


def _approved(progress: Progress, event: Event) -> Progress:
    diagnosis = require_ready(progress.case.diagnosis)
    approval = from_plain(Approval, {**event.data, "time": event.time})
    if (approval.diagnosis_hash, approval.diff_hash) != (diagnosis_hash(diagnosis), diff_hash(diagnosis)):
        message = "the diagnosis or its diff is not the one that was shown"
        raise GateError("approval-for-another", message, next_step(progress))
    require_answers(diagnosis, approval.answers)
    return replace(progress, case=replace(progress.case, state="approved"), approval=approval)


def _applying(progress: Progress, event: Event) -> Progress:
    return replace(progress, applied=Applied(from_plain(dict[str, Change], event.data["files"])))


def _applied(progress: Progress, event: Event) -> Progress:
    if progress.applied is None:
        raise GateError("step-out-of-order", "the patch was not announced", next_step(progress))
    diagnosis = require_ready(progress.case.diagnosis)
    assert diagnosis.fix is not None
    attempt = Attempt(approach_of(diagnosis), diagnosis.fix.summary, diagnosis.fix.diff, event.time)
    applied = replace(progress.applied, sources=from_plain(dict[str, str], event.data["sources"]), done=True)
    case = replace(progress.case, state="fixed")
    attempts = (*progress.attempts, attempt)
    # The approval is used up here: the next patch needs another.
    return replace(progress, case=case, approval=None, applied=applied, attempts=attempts)


def _verified(progress: Progress, event: Event) -> Progress:
    passed, text = bool(event.data["passed"]), str(event.data["text"])
    after = replace(progress, attempts=_settle(progress.attempts, passed, text), verification=text)
    if passed:
        return replace(after, case=replace(progress.case, state="verified"))
    failed = [attempt.approach for attempt in after.failed]
    count = max(strikes(approach, failed) for approach in failed)
    against = f"its fix was applied and did not pass: {text}"
    evidence = Evidence("experiment", False, against, event.data["values"])
    case = replace(
        progress.case,
        state="stopped" if strikes(failed[-1], failed) >= LIMIT else "hypotheses",
        strikes=count,
        diagnosis=_weakened(_in_force(progress), evidence),
    )
    return replace(after, case=case, applied=None)


def _tried(progress: Progress, event: Event) -> Progress:
    outcome = "passed" if event.data["passed"] else "did not pass"
    return replace(progress, tries=(*progress.tries, Remark(event.time, outcome, str(event.data["text"]))))


def _closed(progress: Progress, event: Event) -> Progress:
    return replace(progress, case=replace(progress.case, state="closed"), lesson=str(event.data["lesson"]))


def _recovered(progress: Progress, event: Event) -> Progress:
    return replace(progress, recovered=progress.recovered + int(event.data["bytes"]))


def _unchanged(progress: Progress, event: Event) -> Progress:
    return progress


_STEPS: dict[str, Callable[[Progress, Event], Progress]] = {
    "characterised": _characterised,
    "hypotheses": _hypotheses,
    "diagnosed": _diagnosed,
    "rejected": _rejected,
    "approved": _approved,
    "applying": _applying,
    "applied": _applied,
    "voided": _unchanged,
    "verified": _verified,
    "tried": _tried,
    "closed": _closed,
    "recovered": _recovered,
}


def _in_force(progress: Progress) -> Diagnosis:
    if progress.case.diagnosis is None:
        raise GateError("cause-not-established", "the case has no diagnosis", next_step(progress))
    return progress.case.diagnosis


def _weakened(diagnosis: Diagnosis, evidence: Evidence) -> Diagnosis:
    """The diagnosis with evidence against its cause, which is then no longer established."""

    def with_evidence(h: Hypothesis) -> Hypothesis:
        if h.cause != diagnosis.cause:
            return h
        return replace(h, status="inconclusive", evidence=(*h.evidence, evidence))

    hypotheses = tuple(map(with_evidence, diagnosis.hypotheses))
    weaker = replace(diagnosis, status="not-established", cause=None, site=None, hypotheses=hypotheses)
    return replace(weaker, missing=evidence.text)


def _settle(attempts: Sequence[Attempt], passed: bool | None, lesson: str) -> tuple[Attempt, ...]:
    return (*attempts[:-1], replace(attempts[-1], passed=passed, lesson=lesson))
