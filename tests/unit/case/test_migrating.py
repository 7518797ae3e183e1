"""Cases that version 1 wrote are read, worked on and closed; their lines stay as they are."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import FIXED, diagnosis
from firstcause.case import (
    CaseFolder,
    Verification,
    apply,
    close,
    diagnosis_hash,
    reject,
    unapproved,
    verify,
)
from firstcause.case.history import HISTORY, read
from firstcause.case.migrating import MIGRATIONS, current, version_of
from firstcause.errors import RecordError
from firstcause.schema import CASE_SCHEMA, Evidence

STORED = Path(__file__).parent / "stored" / "version-1"


def restored(root: str, name: str) -> CaseFolder:
    """A stored case put back under its own id, in the project that it was about."""
    first = json.loads((STORED / name / HISTORY).read_text().splitlines()[0])
    path = Path(root, "cases", first["data"]["id"])
    shutil.copytree(STORED / name, path)
    return CaseFolder(str(path))


def test_every_older_version_has_its_step() -> None:
    assert sorted(MIGRATIONS) == list(range(1, CASE_SCHEMA))


@pytest.mark.parametrize("name", ["approved", "closed", "fixed"])
def test_stored_case_is_read_as_it_was(root: str, name: str) -> None:
    folder = restored(root, name)
    stored = read(folder.path).events
    assert version_of(stored) == 1
    progress = folder.progress()
    assert (progress.case.state, progress.case.schema, progress.case.id) == (name, CASE_SCHEMA, folder.id)
    assert progress.symptoms[0].symptom == diagnosis().symptom
    assert [e.event for e in current(stored)] == [e.event for e in stored]
    assert all(e.data["schema"] == CASE_SCHEMA for e in current(stored) if e.event == "opened")
    # Reading writes nothing.
    assert (Path(folder.path) / HISTORY).read_bytes() == (STORED / name / HISTORY).read_bytes()


def test_stored_strike_rejection_and_approval_are_all_there(root: str) -> None:
    progress = restored(root, "approved").progress()
    assert (progress.case.strikes, len(progress.failed), len(progress.tries)) == (1, 1, 1)
    assert progress.failed[0].lesson == "the loss is nan at step 40"
    assert [r.text for r in progress.rejections] == ["the loss was nan before step 118 too"]
    assert progress.approval is not None
    assert progress.approval.answers == {"symptom": "y", "scope": "t", "side-effect": "y"}
    assert progress.approval.diagnosis_hash == diagnosis_hash(progress.case.diagnosis)  # type: ignore[arg-type]


def test_stored_approval_is_used_once_by_this_version(root: str) -> None:
    cwd = Path(root).parent
    folder = restored(root, "approved")
    (cwd / "train.py").write_text(FIXED)
    before = (Path(folder.path) / HISTORY).read_bytes()
    apply(folder, str(cwd), ["train.py"])
    assert (cwd / "data.py").read_text() == "SEED = 2\n"
    assert (Path(folder.path) / HISTORY).read_bytes().startswith(before)
    events = read(folder.path).events
    assert [e.event for e in events][-3:] == ["migrated", "applying", "applied"]
    assert version_of(events) == CASE_SCHEMA
    result = Verification(True, "the loss is finite")
    assert verify(folder, str(cwd), lambda: result)[1].case.state == "verified"
    assert close(folder, "data first").case.state == "closed"
    assert [e.event for e in read(folder.path).events].count("migrated") == 1


def test_stored_fix_is_still_void_after_a_change(root: str) -> None:
    cwd = Path(root).parent
    folder = restored(root, "fixed")
    (cwd / "train.py").write_text(FIXED)
    (cwd / "data.py").write_text("SEED = 9\n")
    with pytest.raises(Exception, match=r"data\.py changed"):
        verify(folder, str(cwd), lambda: pytest.fail("the program must not run"))
    assert reject(folder, "done otherwise", "ada").case.state == "hypotheses"


def test_stored_fix_knows_nothing_of_files_beside_it(root: str) -> None:
    """Version 1 hashed the sources of the run only: whether another file is new, it cannot say."""
    cwd = Path(root).parent
    folder = restored(root, "fixed")
    applied = folder.progress().applied
    assert applied is not None
    for path in applied.sources:
        (cwd / path).write_text(FIXED if path == "train.py" else "SEED = 2\n")
    (cwd / "added.py").write_text("x = 1\n")
    found = [d.path for d in unapproved(str(cwd), applied)]
    assert "added.py" not in found
    assert not applied.complete


def test_refused_step_does_not_migrate(root: str) -> None:
    folder = restored(root, "fixed")
    before = (Path(folder.path) / HISTORY).read_bytes()
    with pytest.raises(Exception, match="has no place there"), folder.writing() as writer:
        writer.append("characterised", symptoms=[])
    assert (Path(folder.path) / HISTORY).read_bytes() == before


def test_approval_of_version_1_for_another_diagnosis_is_refused(root: str) -> None:
    folder = restored(root, "approved")
    events = list(read(folder.path).events)
    at = next(i for i, e in enumerate(events) if e.event == "approved")
    events[at] = replace(events[at], data={**events[at].data, "diagnosis_hash": "0" * 64})
    from firstcause.case import fold

    with pytest.raises(RecordError, match=r"\(approved\) cannot have happened"):
        fold(events)


def test_hash_of_a_diagnosis_leaves_defaults_out() -> None:
    """A field with a default that a later version adds must not void what was approved before."""
    base = diagnosis()
    fact = base.hypotheses[1].evidence[0]
    assert fact.rank == 0
    changed = replace(base, hypotheses=(replace(base.hypotheses[1], evidence=(replace(fact, rank=1),)),))
    same = replace(base, hypotheses=(replace(base.hypotheses[1], evidence=(Evidence(fact.kind, fact.supports, fact.text, fact.values, fact.site, fact.step),)),))  # fmt: skip
    alone = replace(base, hypotheses=(base.hypotheses[1],))
    assert diagnosis_hash(same) == diagnosis_hash(alone) != diagnosis_hash(changed)
    import hashlib

    from firstcause.case.gate import _stated

    plain = json.dumps(_stated(alone), sort_keys=True, separators=(",", ":"))
    assert '"rank":0' not in plain
    assert hashlib.sha256(plain.encode()).hexdigest() == diagnosis_hash(alone)
