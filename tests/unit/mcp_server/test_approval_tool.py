"""Only a person's act approves: a form with the code, or a terminal; declining and guessing change nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mcp.types import ElicitResult

from firstcause.case import CaseFolder
from mcp_server.calling import call, history, in_state, text

CODE = re.compile(r"Type ([0-9A-Z]{6}) to approve")


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CaseFolder:
    monkeypatch.chdir(tmp_path)
    return in_state(tmp_path, "diagnosed")


def filled(code: str = "", **changes: str) -> ElicitResult:
    return ElicitResult(
        action="accept", content={"symptom": "y", "scope": "t", "side_effect": "y", "code": code, **changes}
    )


def person(message: str) -> ElicitResult:
    found = CODE.search(message)
    assert found is not None
    assert "+    p = torch.sigmoid(logits).clamp(1e-6, 1 - 1e-6)" in message
    assert "1. Recorded: the loss became nan" in message
    return filled(found[1].lower())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_person_approves_in_a_form(case: CaseFolder, mode: str) -> None:
    result = call("request_approval", mode, person, case=case.id)
    assert not result.is_error, text(result)
    assert case.progress().case.state == "approved"
    approval = case.progress().approval
    assert approval is not None
    assert approval.answers == {"symptom": "y", "scope": "t", "side-effect": "y"}
    assert "client" in approval.by
    assert result.structured_content["next"]["tool"] == "apply_fix"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_without_forms_gets_the_way_by_terminal(case: CaseFolder, mode: str) -> None:
    before = history(case)
    result = call("request_approval", mode, case=case.id)
    assert not result.is_error
    step = result.structured_content["next"]
    assert step["tool"] == ""
    assert step["person"].endswith(f"firstcause case approve {case.id}")
    assert history(case) == before


@pytest.mark.parametrize(
    "answer",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        filled("AAAAAA"),
    ],
)
def test_what_is_no_approval_approves_nothing(case: CaseFolder, answer: ElicitResult) -> None:
    before = history(case)
    result = call("request_approval", "auto", lambda message: answer, case=case.id)
    assert "not approved" in text(result)
    assert case.progress().case.state == "diagnosed"
    assert history(case) == before


def test_an_answer_that_keeps_the_fix_back_is_kept(case: CaseFolder) -> None:
    def broader(message: str) -> ElicitResult:
        found = CODE.search(message)
        return filled(found[1] if found else "", scope="b")

    result = call("request_approval", "auto", broader, case=case.id)
    assert "a broader fix is wanted" in text(result)
    assert len(case.progress().declined) == 1
    assert case.progress().case.state == "diagnosed"


def test_a_code_of_an_earlier_showing_is_worth_nothing(case: CaseFolder) -> None:
    shown: list[str] = []

    def looked(message: str) -> ElicitResult:
        found = CODE.search(message)
        shown.append(found[1] if found else "")
        return ElicitResult(action="decline")

    call("request_approval", "auto", looked, case=case.id)
    call("add_evidence", cause="log-of-zero", observation="one more", supports=True, case=case.id)
    call("request_approval", "auto", lambda message: filled(shown[0]), case=case.id)
    assert case.progress().case.state == "diagnosed"
