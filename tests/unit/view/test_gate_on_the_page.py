"""Approving on the page: bound to what was shown, by a person at a terminal, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from firstcause.case import CaseFolder
from view.projects import opened, recorded
from view.serving import PERSON, client, post

YES = {"symptom": "y", "scope": "t", "side-effect": "y"}


def shown(made: TestClient, case: CaseFolder) -> dict[str, Any]:
    """What the form of the page would send."""
    page = made.get(f"/api/cases/{case.id}").json()
    return {
        "answers": dict(YES),
        "code": page["gate"]["code"],
        "diagnosis_hash": page["diagnosis_hash"],
        "diff_hash": page["diff_hash"],
    }


@pytest.fixture
def case(tmp_path: Path) -> CaseFolder:
    recorded(tmp_path)
    return opened(tmp_path)


def test_an_approval_is_the_one_that_the_terminal_gives(tmp_path: Path, case: CaseFolder) -> None:
    made = client(tmp_path)
    body = shown(made, case)
    status, text = post(made, f"/api/cases/{case.id}/approve", body)
    assert status == 200, text
    progress = case.progress()
    assert progress.case.state == "approved"
    assert progress.approval is not None
    assert (progress.approval.by, progress.approval.answers) == (PERSON, YES)
    assert (progress.approval.diagnosis_hash, progress.approval.diff_hash) == (
        body["diagnosis_hash"],
        body["diff_hash"],
    )
    assert len(progress.approval.asked) == 3
    assert "train.py" in progress.approval.files
    # Once: the same body again approves nothing.
    assert post(made, f"/api/cases/{case.id}/approve", body)[0] == 409


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"code": "AAAAAA"}, "the code is another one"),
        ({"code": ""}, "the code is another one"),
        ({"diff_hash": "0" * 64}, "no longer the one that was shown"),
        ({"diagnosis_hash": "0" * 64}, "no longer the one that was shown"),
        ({"answers": {**YES, "scope": ""}}, "not answered"),
        ({"answers": {}}, "not answered"),
        ({"answers": "yyy"}, "not answered"),
        ({"answers": {**YES, "scope": "b"}}, "a broader fix is wanted"),
        ({"answers": {**YES, "side-effect": "n"}}, "the side effect is not acceptable"),
    ],
)
def test_anything_else_approves_nothing(
    tmp_path: Path, case: CaseFolder, change: dict[str, Any], said: str
) -> None:
    made = client(tmp_path)
    status, text = post(made, f"/api/cases/{case.id}/approve", {**shown(made, case), **change})
    assert (status, said in text) == (409, True), text
    assert case.progress().case.state == "diagnosed"
    assert case.progress().approval is None


def test_an_answer_that_keeps_a_fix_back_is_kept_and_makes_another_code(
    tmp_path: Path, case: CaseFolder
) -> None:
    made = client(tmp_path)
    body = shown(made, case)
    post(made, f"/api/cases/{case.id}/approve", {**body, "answers": {**YES, "scope": "b"}})
    (kept,) = case.progress().declined
    assert (kept.by, "broader" in kept.text) == (PERSON, True)
    assert post(made, f"/api/cases/{case.id}/approve", body)[0] == 409
    assert post(made, f"/api/cases/{case.id}/approve", shown(made, case))[0] == 200


def test_a_code_of_another_server_is_worth_nothing(tmp_path: Path, case: CaseFolder) -> None:
    body = shown(client(tmp_path), case)
    assert post(client(tmp_path), f"/api/cases/{case.id}/approve", body)[0] == 409


def test_a_rejection_is_evidence_and_needs_a_reason(tmp_path: Path, case: CaseFolder) -> None:
    made = client(tmp_path)
    assert post(made, f"/api/cases/{case.id}/reject", {"because": "  "})[0] == 409
    assert post(made, f"/api/cases/{case.id}/reject", {"because": "the clamp is meant"})[0] == 200
    progress = case.progress()
    assert (progress.case.state, progress.case.strikes) == ("hypotheses", 0)
    assert [(r.by, r.text) for r in progress.rejections] == [(PERSON, "the clamp is meant")]


def test_a_server_that_no_person_started_approves_nothing(tmp_path: Path, case: CaseFolder) -> None:
    person, program = client(tmp_path), client(tmp_path, person="")
    page = program.get(f"/api/cases/{case.id}").json()
    assert page["gate"]["able"] is False
    assert "code" not in page["gate"]
    for act in ("approve", "reject"):
        status, text = post(program, f"/api/cases/{case.id}/{act}", {**shown(person, case), "because": "x"})
        assert (status, "a person at a terminal" in text) == (409, True)
    assert case.progress().case.state == "diagnosed"


def test_a_changed_file_is_told_before_the_approval(tmp_path: Path) -> None:
    import hashlib
    import json

    run = recorded(tmp_path)
    plain = json.loads(Path(run.file("run.json")).read_text())
    plain["sources"] = {"train.py": hashlib.sha256((tmp_path / "train.py").read_bytes()).hexdigest()}
    Path(run.file("run.json")).write_text(json.dumps(plain))
    case = opened(tmp_path)
    made = client(tmp_path)
    assert made.get(f"/api/cases/{case.id}").json()["gate"]["changed"] == []
    (tmp_path / "train.py").write_text((tmp_path / "train.py").read_text() + "# later\n")
    (changed,) = made.get(f"/api/cases/{case.id}").json()["gate"]["changed"]
    assert changed.startswith("train.py changed since the run was recorded")


@pytest.mark.parametrize("content", [b"[]", b"{", b"null", b'{"a":' * 3000, b'"' + b"x" * 70_000 + b'"'])
def test_a_body_that_is_none_is_refused(tmp_path: Path, case: CaseFolder, content: bytes) -> None:
    headers = {"Origin": "http://127.0.0.1:4711", "Content-Type": "application/json"}
    made = client(tmp_path)
    assert made.post(f"/api/cases/{case.id}/approve", content=content, headers=headers).status_code == 400
    assert made.post(f"/api/cases/{case.id}/apply", content=b"{}", headers=headers).status_code == 400
