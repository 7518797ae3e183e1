"""Which case a diagnosis goes to, what it takes over from earlier ones, and when a case stays as it is."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import SITE, diagnosis
from case.test_case import approved, events, opened
from case.test_strikes import fail
from case.test_symptoms import LATER, fixed, several, showing
from case.test_weighing import attempt
from firstcause.case import Verification, apply, close, find_case, open_case, verify
from firstcause.case import opening as module
from firstcause.case.history import HISTORY, take_lock
from firstcause.errors import InputError, RecordError
from firstcause.schema import Symptom


def recorded(root: str, run: str, **changes: object) -> str:
    """The record of the project's run once more under another name; returns its folder."""
    record = json.loads(Path(root, "runs", "r1", "run.json").read_text())
    folder = Path(root, "runs", run)
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({**record, "id": run, **changes}))
    return str(folder)


def test_healthy_run_is_named_in_its_refusal(root: str) -> None:
    for shown in (diagnosis(status="healthy", cause=None), diagnosis(symptom=None)):
        with pytest.raises(InputError) as raised:
            opened(root, shown)
        assert raised.value.slug == "no-symptom"
        assert raised.value.message == "run r1 shows no symptom"


def test_two_openers_take_turns(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(root)
    lock = take_lock(os.path.join(root, "cases"))
    with pytest.raises(RecordError) as raised:
        opened(root, diagnosis("nan-in-data"))
    assert raised.value.slug == "case-busy"
    os.close(lock)
    assert opened(root, diagnosis("nan-in-data")).progress().case.state == "diagnosed"
    # A refusal on the way lets go of it.
    monkeypatch.setattr(module, "weighed", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        opened(root, diagnosis("sqrt-backward-at-zero"))
    monkeypatch.undo()
    assert opened(root, diagnosis("sqrt-backward-at-zero")).progress().case.state == "diagnosed"


def test_closed_case_of_a_run_is_not_taken_up(root: str) -> None:
    first = opened(root)
    close(first, "measure")
    again = opened(root)
    assert again.id != first.id
    assert opened(root).id == again.id


def test_case_stays_while_a_fix_waits_for_its_verification(root: str) -> None:
    folder = opened(root)
    approved(folder)
    apply(folder, os.path.dirname(root))
    before = events(folder)
    assert opened(root, diagnosis("nan-in-data")).id == folder.id
    assert events(folder) == before
    verify(folder, os.path.dirname(root), lambda: Verification(True, "fine"))
    opened(root, diagnosis("nan-in-data"))
    assert events(folder) == [*before, "verified"]


def test_same_diagnosis_is_not_written_twice(root: str) -> None:
    open_one = diagnosis(status="not-established", cause=None)
    folder = opened(root, open_one)
    before = events(folder)
    opened(root, open_one)
    assert events(folder) == before == ["opened", "characterised", "hypotheses"]
    opened(root, replace(open_one, missing="the range"))
    assert events(folder) == [*before, "hypotheses"]
    # Between the two lines of an established one a process may have died: the second follows now.
    with folder.writing() as writer:
        writer.append("hypotheses", diagnosis=diagnosis())
    opened(root)
    assert events(folder)[-3:] == ["hypotheses", "hypotheses", "diagnosed"]


def test_left_over_symptom_is_taken_up_by_its_own_kind_of_run_only(root: str) -> None:
    folder = several(root, LATER)
    fixed(folder, Path(root).parent)
    later = diagnosis("key-missing", symptom=LATER)
    other_command = recorded(root, "r2", command=["python", "eval.py"])
    assert open_case(root, "r2", other_command, later).id != folder.id
    # Nothing is left over yet: the fix waits.
    assert open_case(root, "r3", recorded(root, "r3"), later).id != folder.id
    verify(folder, str(Path(root).parent), lambda: showing(LATER))
    divergence = Symptom("divergence", "the loss grows", SITE, 200)
    other_symptom = diagnosis("key-missing", symptom=divergence)
    assert open_case(root, "r4", recorded(root, "r4"), other_symptom).id != folder.id
    assert open_case(root, "r5", str(Path(root, "runs", "gone")), later).id != folder.id
    assert open_case(root, "r6", recorded(root, "r6"), later).id == folder.id
    assert folder.progress().run_folder == os.path.join(".firstcause", "runs", "r6")
    # From now on it is about that run, and is worked on: nothing is left over of a fix.
    assert open_case(root, "r7", recorded(root, "r7"), later).id != folder.id


def test_strikes_are_taken_over_by_the_same_command_without_the_same_run(root: str) -> None:
    close(fail(root, attempt(root, 1), "nan at step 40"), "no idea")
    shown = attempt(root, 2)
    case = open_case(root, "r2", recorded(root, "r2"), shown)
    assert [a.lesson for a in find_case(root, case.id).progress().inherited] == ["nan at step 40"]
    assert case.strikes == 1
    other = open_case(root, "r3", recorded(root, "r3", command=["python", "eval.py"]), shown)
    assert find_case(root, other.id).progress().inherited == ()
    another = diagnosis(symptom=LATER)
    case = open_case(root, "r4", recorded(root, "r4"), another)
    assert find_case(root, case.id).progress().inherited == ()


def test_strikes_before_a_verified_fix_are_not_taken_over(root: str) -> None:
    folder = fail(root, attempt(root, 1))
    opened(root, attempt(root, 2))
    approved(folder)
    apply(folder, os.path.dirname(root))
    verify(folder, os.path.dirname(root), lambda: Verification(True, "fine"))
    close(folder, "measure")
    assert opened(root, attempt(root, 3)).progress().inherited == ()


def test_strikes_of_a_removed_record_are_those_of_its_own_run(root: str) -> None:
    close(fail(root, attempt(root, 1)), "no idea")
    Path(root, "runs", "r1", "run.json").unlink()
    assert len(opened(root, attempt(root, 2)).progress().inherited) == 1
    case = open_case(root, "r2", str(Path(root, "runs", "r2")), attempt(root, 3))
    assert find_case(root, case.id).progress().inherited == ()


def test_damaged_case_keeps_no_other_from_being_worked_on(root: str) -> None:
    folder = fail(root, attempt(root, 1))
    path = Path(folder.path, HISTORY)
    path.write_bytes(path.read_bytes().replace(b"Words 1", b"Words 7"))
    fresh = opened(root, attempt(root, 2))
    assert fresh.id != folder.id
    assert fresh.progress().inherited == ()


def test_characterised_by_what_the_run_showed_and_by_the_diagnosis(root: str) -> None:
    path = Path(root, "runs", "r1", "run.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "symptoms": []}))
    assert [t.symptom.kind for t in opened(root).progress().symptoms] == ["nan"]
    case = open_case(root, "r2", str(Path(root, "runs", "none")), diagnosis(symptom=LATER))
    assert [t.symptom for t in find_case(root, case.id).progress().symptoms] == [LATER]
