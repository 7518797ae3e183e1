"""The order of steps: what each state allows, what it refuses and with which words, and what is due next."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from case.samples import SITE, diagnosis
from case.test_case import approved, opened
from case.test_strikes import fail
from case.test_symptoms import LATER, showing
from case.test_weighing import attempt
from firstcause.case import (
    Change,
    Event,
    Progress,
    Tracked,
    Verification,
    advance,
    apply,
    close,
    decline,
    diagnosis_hash,
    next_step,
    progress_of,
    questions,
    reject,
    require_other_approach,
    try_fix,
    verify,
)
from firstcause.case.history import read
from firstcause.errors import GateError, RecordError
from firstcause.schema import Symptom, to_plain


def refused(progress: Progress | None, kind: str, **data: Any) -> GateError:
    """What an event is refused with."""
    with pytest.raises(GateError) as raised:
        advance(progress, Event(99, "10:00", kind, to_plain(data)))
    return raised.value


def after(progress: Progress, kind: str, **data: Any) -> Progress:
    return advance(progress, Event(99, "10:00", kind, to_plain(data)))


def test_cause_is_diagnosed_by_the_hash_of_what_is_established(root: str) -> None:
    progress = progress_of(read(opened(root).path).events[:3])
    assert progress.case.state == "hypotheses"
    error = refused(progress, "diagnosed", diagnosis_hash="0" * 64)
    assert (error.slug, error.message) == (
        "cause-not-established",
        "this diagnosis does not establish a cause",
    )
    open_one = diagnosis(status="not-established", cause=None)
    progress = after(progress, "hypotheses", diagnosis=open_one)
    assert refused(progress, "diagnosed", diagnosis_hash=diagnosis_hash(open_one)).slug == error.slug


def test_rejection_needs_a_reason(root: str) -> None:
    folder = opened(root)
    for because in ("", " \n"):
        error = refused(folder.progress(), "rejected", because=because, by="ada")
        assert (error.slug, error.hint) == ("reason-missing", "firstcause case reject --because TEXT")
    progress = reject(folder, "no", "ada")
    (remark,) = progress.rejections
    assert (remark.by, remark.text, remark.cause) == ("ada", "no", "log-of-zero")


def test_patch_is_announced_before_it_is_applied_and_finished_before_it_is_diagnosed_away(root: str) -> None:
    folder = opened(root)
    approved(folder)
    progress = folder.progress()
    error = refused(progress, "applied", sources={}, complete=True)
    assert (error.slug, error.message) == ("step-out-of-order", "the patch was not announced")
    half = after(progress, "applying", files={"train.py": Change("a", "b")})
    assert half.applied is not None
    assert not half.applied.complete
    error = refused(half, "hypotheses", diagnosis=diagnosis("nan-in-data"))
    assert (error.slug, error.hint) == ("apply-unfinished", "firstcause case apply finishes it")


def test_stopped_case_takes_another_approach_only(root: str) -> None:
    for number in (1, 2, 3):
        folder = fail(root, attempt(root, number))
    progress = folder.progress()
    assert progress.case.state == "stopped"
    error = refused(progress, "hypotheses", diagnosis=diagnosis(status="not-established", cause=None))
    assert (error.slug, error.message) == ("three-strikes", f"case {folder.id} is stopped")
    assert error.hint.startswith("Which observation would still be there if log-of-zero were not the cause")
    error = refused(progress, "hypotheses", diagnosis=attempt(root, 4))
    assert error.message.startswith("3 fixes of this approach did not pass (1. Words 1.: ")
    other = attempt(root, 5, "nan-in-data", 1)
    require_other_approach(progress, other)
    assert after(progress, "hypotheses", diagnosis=other).case.state == "hypotheses"


def test_what_cannot_happen_says_where_it_stands(root: str) -> None:
    folder = opened(root)
    error = refused(folder.progress(), "verified")
    assert error.message == f"case {folder.id} is diagnosed: verified has no place there"
    assert error.hint == "firstcause case approve"
    assert refused(folder.progress(), "no-such-step").slug == "step-out-of-order"
    events = read(folder.path).events
    for change in ({"symptoms": 3}, {}, {"symptoms": [{"kind": "nan"}]}):
        broken = [events[0], replace(events[1], data=change), *events[2:]]
        with pytest.raises(RecordError, match=r"^event 1 \(characterised\) cannot have happened"):
            progress_of(broken)


def test_events_and_times_are_counted(root: str) -> None:
    folder = opened(root)
    events = [replace(e, time=f"10:0{e.seq}") for e in read(folder.path).events]
    progress = progress_of(events)
    assert (progress.events, progress.updated, progress.case.opened) == (4, "10:03", "10:00")
    assert [t.time for t in progress.symptoms] == ["10:01"]
    assert progress.first == diagnosis()
    later = after(progress, "hypotheses", diagnosis=diagnosis("nan-in-data"))
    assert later.first == diagnosis()


def test_try_in_a_copy_is_told(root: str) -> None:
    folder = opened(root)
    assert try_fix(folder, lambda diff: Verification(True, "finite"))[1].tries[-1].by == "passed"
    progress = try_fix(folder, lambda diff: Verification(False, "nan"))[1]
    assert [(t.by, t.text) for t in progress.tries] == [("passed", "finite"), ("did not pass", "nan")]


def test_answer_that_keeps_a_fix_back_is_told(root: str) -> None:
    folder = opened(root)
    scope = questions(diagnosis())[1]
    progress = decline(folder, scope, "b", "ada")
    assert (progress.declined[0].by, progress.declined[0].cause) == ("ada", "log-of-zero")
    assert progress.declined[0].text == f"b: a broader fix is wanted ({scope.text})"
    assert decline(folder, scope, "", "ada").declined[1].text.startswith("no answer: a broader fix")


def test_next_step_of_each_state(root: str) -> None:
    cwd = os.path.dirname(root)
    folder = opened(root, diagnosis(status="not-established", cause=None))
    assert next_step(folder.progress()) == "firstcause diagnose .firstcause/runs/r1"
    opened(root)
    assert next_step(folder.progress()) == "firstcause case approve"
    approved(folder)
    assert next_step(folder.progress()) == "firstcause case apply"
    apply(folder, cwd)
    assert next_step(folder.progress()) == "firstcause case verify"
    failed = verify(folder, cwd, lambda: Verification(False, "nan"))[1]
    assert next_step(failed) == "firstcause diagnose .firstcause/runs/r1"
    Path(cwd, "train.py").write_text(
        Path(cwd, "train.py").read_text().replace("1e-6, 1 - 1e-6", "1e-8, 1 - 1e-8")
    )
    opened(root)
    approved(folder)
    apply(folder, cwd)
    left = verify(folder, cwd, lambda: showing(LATER))[1]
    assert left.case.state == "hypotheses"
    assert next_step(left) == "firstcause run COMMAND…, then firstcause diagnose last"
    gone_on = after(left, "continued", run="r2", run_folder="elsewhere")
    assert (gone_on.case.run, gone_on.run_folder) == ("r2", "elsewhere")
    unverified = replace(left, attempts=left.attempts[::-1])
    assert refused(unverified, "continued", run="r2", run_folder="elsewhere").message == (
        f"case {folder.id} has no symptom left over from a verified fix"
    )
    assert next_step(close(folder, "measure")) == "firstcause case list"


def test_what_a_verified_fix_leaves_is_put_before_the_case(root: str) -> None:
    folder = opened(root)
    approved(folder)
    apply(folder, os.path.dirname(root))
    progress = replace(
        folder.progress(), symptoms=(Tracked(LATER, "gone"), Tracked(Symptom("nan", "old", SITE)))
    )
    again = {"symptom": LATER, "outcome": "new"}
    nan = {"symptom": Symptom("nan", "the loss became nan", SITE, 118), "outcome": "gone"}
    left = after(progress, "verified", passed=True, text="t", values={}, symptoms=[nan, again])
    assert [(t.symptom.message, t.outcome, t.time) for t in left.symptoms] == [
        ("KeyError: 'eval'", "new", "10:00"),
        ("the loss became nan", "gone", "10:00"),
    ]
    assert left.case.diagnosis is not None
    assert left.case.diagnosis.missing == (
        "a record of the program as it is now: KeyError: 'eval' at step 300 (train.py:40) is left (new)"
    )
    assert left.case.diagnosis.sections == {
        "Symptom": "KeyError: 'eval'",
        "Root Cause": f"Not established. Missing: {left.case.diagnosis.missing}.",
    }
    assert left.applied is None
    # One that went with an earlier fix stays in the list.
    kept = after(progress, "verified", passed=True, text="t", values={}, symptoms=[nan])
    assert [(t.symptom.kind, t.outcome) for t in kept.symptoms] == [("exception", "gone"), ("nan", "gone")]
    assert kept.case.state == "verified"
