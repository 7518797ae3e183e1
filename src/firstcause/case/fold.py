"""The state machine of a case: a pure fold over its events; only here is the order of steps known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, get_args

from firstcause.case.approach import LIMIT, Approach, approach_of, strikes
from firstcause.case.event import Event
from firstcause.case.gate import diagnosis_hash, diff_hash, require_ready
from firstcause.case.migrating import current
from firstcause.case.progress import Applied, Approval, Attempt, Change, Progress, Remark
from firstcause.case.questions import describe, require_answers
from firstcause.case.strikeout import question, require_other_approach, struck_out
from firstcause.case.symptoms import Tracked, criticality
from firstcause.case.weighing import failed_evidence, rejected_evidence, weakened
from firstcause.errors import GateError, InputError, RecordError
from firstcause.schema import CASE_SCHEMA, Case, Diagnosis, State, Symptom, from_plain

# The states in which each event may happen; "opened" begins a case and stands for itself.
ALLOWED: dict[str, tuple[str, ...]] = {
    "characterised": ("open",),
    "hypotheses": ("characterised", "hypotheses", "diagnosed", "approved", "stopped"),
    "diagnosed": ("hypotheses",),
    "continued": ("hypotheses",),
    "rejected": ("diagnosed", "approved", "fixed"),
    "declined": ("diagnosed",),
    "approved": ("diagnosed",),
    "applying": ("approved",),
    "applied": ("approved",),
    "voided": ("fixed",),
    "verified": ("fixed",),
    "tried": ("hypotheses", "diagnosed", "approved", "fixed", "verified", "stopped"),
    "closed": ("characterised", "hypotheses", "diagnosed", "verified", "stopped"),
    "recovered": get_args(State),
    "migrated": get_args(State),
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
    if progress.case.state == "hypotheses" and (
        not progress.case.run or (progress.attempts and progress.attempts[-1].passed)
    ):
        # It began with a text, or the run of the record had another fault than the one that is left.
        return "firstcause run COMMAND…, then firstcause diagnose last"
    return _NEXT.get(progress.case.state, diagnose)


def fold(events: Iterable[Event]) -> Case:
    """The case that a history amounts to; raises ``RecordError`` where it breaks the order of steps."""
    return progress_of(events).case


def progress_of(events: Iterable[Event]) -> Progress:
    """Everything that a history says; raises ``RecordError`` for a history that breaks the order of steps."""
    progress: Progress | None = None
    for event in current(events):
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
    inherited = tuple(map(_attempt, event.data["inherited"]))
    failed = [attempt.approach for attempt in inherited]
    case = Case(
        id=event.data["id"],
        run=event.data["run"],
        state="open",
        opened=event.time,
        strikes=max((strikes(approach, failed) for approach in failed), default=0),
    )
    return Progress(
        case=case, run_folder=event.data["run_folder"], updated=event.time, events=1, inherited=inherited
    )


def _attempt(plain: dict[str, Any]) -> Attempt:
    """A failed attempt of an earlier case."""
    # Of an approach's site only the file is a text, which a reading by types cannot tell.
    sites = tuple((str(path), int(first), int(last)) for path, first, last in plain["approach"]["sites"])
    approach = from_plain(Approach, {**plain["approach"], "sites": []})
    attempt = from_plain(Attempt, {**plain, "approach": {"cause": "", "sites": [], "interventions": []}})
    return replace(attempt, approach=replace(approach, sites=sites))


def _characterised(progress: Progress, event: Event) -> Progress:
    tracked = tuple(
        Tracked(from_plain(Symptom, plain), "open", event.time) for plain in event.data["symptoms"]
    )
    return replace(progress, case=replace(progress.case, state="characterised"), symptoms=tracked)


def _continued(progress: Progress, event: Event) -> Progress:
    if not progress.case.run:
        return _recorded(progress, event)
    if not progress.remaining or not (progress.attempts and progress.attempts[-1].passed):
        message = f"case {progress.case.id} has no symptom left over from a verified fix"
        raise GateError("step-out-of-order", message, next_step(progress))
    case = replace(progress.case, run=event.data["run"])
    return replace(progress, case=case, run_folder=event.data["run_folder"])


def _recorded(progress: Progress, event: Event) -> Progress:
    """A case that began with a text gets its run: its symptoms are what the run showed, its first belief is measured."""
    case = replace(progress.case, run=event.data["run"])
    tracked = tuple(Tracked(from_plain(Symptom, one), "open", event.time) for one in event.data["symptoms"])
    return replace(progress, case=case, run_folder=event.data["run_folder"], symptoms=tracked, first=None)


def _hypotheses(progress: Progress, event: Event) -> Progress:
    if progress.applied is not None:
        hint = "firstcause case apply finishes it"
        raise GateError("apply-unfinished", "the approved patch is only in a part of its files", hint)
    diagnosis = from_plain(Diagnosis, event.data["diagnosis"])
    if progress.case.state == "stopped":
        if diagnosis.status != "established":
            raise GateError("three-strikes", f"case {progress.case.id} is stopped", question(progress))
        require_other_approach(progress, diagnosis)
    state: State = "stopped" if struck_out(progress, diagnosis) else "hypotheses"
    case = replace(progress.case, state=state, diagnosis=diagnosis)
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
    evidence = rejected_evidence(by, because)
    attempts = progress.attempts
    if progress.case.state == "fixed":
        attempts = _settle(attempts, None, f"withdrawn without a verification: {because}")
    diagnosis = _in_force(progress)
    weaker = weakened(diagnosis, evidence, progress.failed)
    case = replace(progress.case, state="hypotheses", diagnosis=weaker)
    remark = Remark(event.time, by, because, diagnosis.cause or "")
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


def _declined(progress: Progress, event: Event) -> Progress:
    asked, answer = str(event.data["asked"]), str(event.data["answer"])
    said = f"{answer or 'no answer'}: {event.data['otherwise']} ({asked})"
    remark = Remark(event.time, str(event.data["by"]), said, _in_force(progress).cause or "")
    return replace(progress, declined=(*progress.declined, remark))


def _applying(progress: Progress, event: Event) -> Progress:
    return replace(progress, applied=Applied(from_plain(dict[str, Change], event.data["files"])))


def _applied(progress: Progress, event: Event) -> Progress:
    if progress.applied is None:
        raise GateError("step-out-of-order", "the patch was not announced", next_step(progress))
    diagnosis = require_ready(progress.case.diagnosis)
    fix = diagnosis.fix
    summary = fix.summary if fix else diagnosis.sections["Proposed Fix"]
    attempt = Attempt(
        approach_of(diagnosis),
        summary,
        fix.diff if fix else "",
        event.time,
        approval=replace(progress.approval, files={}) if progress.approval else None,
    )
    applied = replace(
        progress.applied,
        sources=from_plain(dict[str, str], event.data["sources"]),
        complete=bool(event.data["complete"]),
    )
    case = replace(progress.case, state="fixed")
    attempts = (*progress.attempts, attempt)
    # The approval is used up here: the next patch needs another.
    return replace(progress, case=case, approval=None, applied=applied, attempts=attempts)


def _verified(progress: Progress, event: Event) -> Progress:
    passed, text = bool(event.data["passed"]), str(event.data["text"])
    after = replace(progress, attempts=_settle(progress.attempts, passed, text), verification=text)
    if passed:
        return _passed(after, event)
    failed = [attempt.approach for attempt in after.failed]
    count = max(strikes(approach, failed) for approach in failed)
    evidence = failed_evidence(text, event.data["values"])
    case = replace(
        progress.case,
        state="stopped" if strikes(failed[-1], failed) >= LIMIT else "hypotheses",
        strikes=count,
        diagnosis=weakened(_in_force(progress), evidence, after.failed),
    )
    return replace(after, case=case, applied=None)


def _passed(progress: Progress, event: Event) -> Progress:
    """Verified where no symptom is left; else back to the hypotheses, for the most critical one that is."""
    tracked = progress.symptoms
    if event.data["symptoms"]:
        tracked = tuple(from_plain(Tracked, {**one, "time": event.time}) for one in event.data["symptoms"])
        gone = tuple(t for t in progress.symptoms if t.outcome == "gone")
        again = [t.symptom for t in tracked]
        tracked = (*tracked, *(t for t in gone if t.symptom not in again))
        tracked = tuple(sorted(tracked, key=lambda t: criticality(t.symptom)))
    left = [t for t in tracked if t.outcome not in ("gone", "open")]
    if not left:
        return replace(progress, case=replace(progress.case, state="verified"), symptoms=tracked)
    text = f"a record of the program as it is now: {describe(left[0].symptom)} is left ({left[0].outcome})"
    open_again = Diagnosis(
        "not-established",
        left[0].symptom,
        None,
        None,
        (),
        {"Symptom": left[0].symptom.message, "Root Cause": f"Not established. Missing: {text}."},
        missing=text,
    )
    case = replace(progress.case, state="hypotheses", diagnosis=open_again)
    return replace(progress, case=case, symptoms=tracked, applied=None)


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
    "continued": _continued,
    "rejected": _rejected,
    "declined": _declined,
    "approved": _approved,
    "applying": _applying,
    "applied": _applied,
    "voided": _unchanged,
    "verified": _verified,
    "tried": _tried,
    "closed": _closed,
    "recovered": _recovered,
    "migrated": _unchanged,
}


def _in_force(progress: Progress) -> Diagnosis:
    if progress.case.diagnosis is None:
        raise GateError("cause-not-established", "the case has no diagnosis", next_step(progress))
    return progress.case.diagnosis


def _settle(attempts: Sequence[Attempt], passed: bool | None, lesson: str) -> tuple[Attempt, ...]:
    return (*attempts[:-1], replace(attempts[-1], passed=passed, lesson=lesson))
