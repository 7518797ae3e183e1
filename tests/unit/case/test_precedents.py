"""A closed case ranks the causes of the next failure, and settles none of them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import diagnosis, unified
from case.test_case import approved, opened
from case.test_strikes import fail
from firstcause.case import Approach, Attempt, Progress, Verification, apply, close, verify
from firstcause.case.closing import precedent
from firstcause.diagnose import precedents
from firstcause.diagnose.answer import conclude, ranked
from firstcause.errors import GateError, RecordError
from firstcause.schema import Case, Hypothesis, Symptom

NAN = Symptom("nan", "the loss became nan")


def test_failed_and_verified_fixes_count(root: str) -> None:
    project = os.path.dirname(root)
    fail(root, diagnosis())
    folder = opened(root, diagnosis("nan-in-data", diff=unified({"data.py": ("SEED = 1\n", "SEED = 2\n")})))
    approved(folder)
    apply(folder, project)
    verify(folder, project, lambda: Verification(True, "fine"))
    close(folder, "look at the data")
    (kept,) = precedents.read(project)
    assert (kept.case, kept.symptom, kept.verified) == (folder.id, "nan", ("nan-in-data",))
    assert [(t.cause, t.lesson) for t in kept.failed] == [("log-of-zero", "the loss is nan at step 40")]
    assert kept.lesson == "look at the data"
    weights = precedents.weights(project, NAN)
    assert weights == {"nan-in-data": 1, "log-of-zero": -1}
    assert precedents.weights(project, Symptom("exception", "KeyError")) == {}
    assert (Path(root) / precedents.FILE).stat().st_mode & 0o777 == 0o600


def test_ranks_change_within_one_status_only() -> None:
    before = [
        Hypothesis("a", None, 1, "inconclusive"),
        Hypothesis("b", None, 2, "inconclusive"),
        Hypothesis("c", None, 3, "refuted"),
        Hypothesis("d", None, 4, "confirmed"),
    ]
    after = ranked(before, {"b": (1, 0), "c": (50, 0), "d": (-50, 0)})
    assert [(h.cause, h.rank, h.status) for h in after] == [
        ("d", 1, "confirmed"), ("b", 2, "inconclusive"), ("a", 3, "inconclusive"), ("c", 4, "refuted")]  # fmt: skip
    assert [h.cause for h in ranked(before)] == ["d", "a", "b", "c"]
    assert {h.cause: h.status for h in ranked(before, {"a": (10**6, 0)})} == {
        h.cause: h.status for h in before
    }


def test_no_weight_confirms(root: str) -> None:
    """However often a cause held before, without evidence of this run nothing is established."""
    from firstcause.record.folder import RunFolder
    from firstcause.specialists.examination import Examination

    run = RunFolder(os.path.join(root, "runs", "r1"))
    examination = Examination(run, run.run(), NAN, None, None)
    open_ones = (
        Hypothesis("log-of-zero", None, 1, "inconclusive"),
        Hypothesis("nan-in-data", None, 2, "open"),
    )
    concluded = conclude(examination, ranked(open_ones, {"nan-in-data": (10**6, 0)}))
    assert concluded.status == "not-established"
    assert concluded.hypotheses[0].cause == "nan-in-data"


def test_bad_lines_and_a_torn_one_are_left_out(root: str) -> None:
    project = os.path.dirname(root)
    path = Path(root, precedents.FILE)
    path.write_bytes(b'not json\n{"case": 1}\n[[[[\n\xff\n{"case": "torn"')
    assert precedents.read(project) == ()
    close(fail(root, diagnosis()), "measure")
    assert [p.lesson for p in precedents.read(project)] == ["measure"]
    path.unlink()
    path.mkdir()
    assert precedents.read(project) == ()


def test_closing_again_writes_what_was_not_written(root: str) -> None:
    folder = fail(root, diagnosis())
    Path(root, precedents.FILE).mkdir()
    with pytest.raises(RecordError) as raised:
        close(folder, "measure")
    assert raised.value.slug == "case-unwritable"
    assert folder.progress().case.state == "closed"
    Path(root, precedents.FILE).rmdir()
    events = folder.progress().events
    close(folder, "measure")
    assert [p.case for p in precedents.read(os.path.dirname(root))] == [folder.id]
    assert folder.progress().events == events
    with pytest.raises(GateError, match="has no place there"):
        close(folder, "measure")


def test_page_that_cannot_be_written_leaves_the_case_closed(root: str) -> None:
    folder = fail(root, diagnosis())
    in_the_way = Path(folder.file("retrospective.md.new"))
    in_the_way.mkdir()
    with pytest.raises(RecordError, match=r"cannot be written: .*; the case itself is closed") as raised:
        close(folder, "measure")
    assert raised.value.slug == "case-unwritable"
    assert folder.progress().case.state == "closed"
    in_the_way.rmdir()
    events = folder.progress().events
    assert close(folder, "another lesson").lesson == "measure"
    assert "measure" in Path(folder.file("retrospective.md")).read_text()
    assert folder.progress().events == events


def test_what_is_remembered_of_a_case() -> None:
    first = diagnosis("sqrt-backward-at-zero", symptom=NAN)
    approach = Approach("a", (), ())
    attempts = (
        Attempt(approach, "One.", "", "10:00", False, "nan again"),
        Attempt(replace(approach, cause="b"), "Two.", "", "10:01", True, "finite"),
        Attempt(approach, "Three.", "", "10:02", True, "finite"),
        Attempt(replace(approach, cause="b"), "Four.", "", "10:03", True, "finite"),
        Attempt(replace(approach, cause="c"), "Five.", "", "10:04", None, "withdrawn"),
    )
    case = Case("x-1", "r1", "closed", "09:00", diagnosis=diagnosis())
    whole = Progress(case, "r1", "10:05", 9, first=first, attempts=attempts, lesson="look")
    # Earlier cases have told of their failures themselves.
    whole = replace(whole, inherited=(replace(attempts[0], summary="Before."),))
    assert precedent(whole) == precedents.Precedent(
        "x-1", "10:05", "nan", ("b", "a"), (precedents.Tried("a", "One.", "nan again"),), "look"
    )
    assert precedent(replace(whole, first=None)).symptom == ""
