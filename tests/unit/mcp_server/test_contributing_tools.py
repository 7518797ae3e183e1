"""What an agent adds is kept and settles nothing; what it proposes is the established cause, with a fix of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from case.samples import FIXED, PROGRAM, unified

from firstcause.case import CaseFolder
from firstcause.mcp import working
from firstcause.mcp.tools import propose_diagnosis as proposing
from mcp_server.calling import call, history, in_state, text


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CaseFolder:
    monkeypatch.chdir(tmp_path)
    return in_state(tmp_path, "diagnosed")


def changed(old: str, new: str) -> str:
    return unified({"train.py": (PROGRAM, PROGRAM.replace(old, new))})


def test_an_observation_changes_no_status(case: CaseFolder) -> None:
    result = call(
        "add_evidence", cause="nan-in-data", observation="3 rows hold nan", supports=True, case=case.id
    )
    kept = {h["cause"]: h for h in result.structured_content["hypotheses"]}
    assert kept["nan-in-data"]["status"] == "inconclusive"
    assert kept["nan-in-data"]["supporting"] == ["an agent observed: 3 rows hold nan"]
    assert case.progress().case.state == "diagnosed"


def test_a_cause_of_the_catalogue_becomes_an_open_hypothesis(case: CaseFolder) -> None:
    result = call("add_evidence", cause="exp-overflow", observation="exp(90)", supports=True, case=case.id)
    last = result.structured_content["hypotheses"][-1]
    assert (last["cause"], last["status"], last["rank"]) == ("exp-overflow", "open", 4)
    assert last["missing"]


def test_an_unknown_cause_and_an_empty_observation_are_refused(case: CaseFolder) -> None:
    before = history(case)
    assert call("add_evidence", cause="bad-luck", observation="x", supports=True, case=case.id).is_error
    assert call("add_evidence", cause="log-of-zero", observation=" ", supports=True, case=case.id).is_error
    assert history(case) == before


@pytest.mark.parametrize(
    ("cause", "why"),
    [
        ("learning-rate-too-high", "is refuted: with a tenth of the learning rate the loss is still nan"),
        ("nan-in-data", "established log-of-zero, and not nan-in-data"),
        ("exp-overflow", "established log-of-zero, and not exp-overflow"),
    ],
)
def test_another_cause_than_the_established_one_is_refused(case: CaseFolder, cause: str, why: str) -> None:
    result = call("propose_diagnosis", cause=cause, case=case.id)
    assert result.is_error
    assert why in text(result)


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        (").mean()", ").mean().nan_to_num()", "nan-hidden"),
        ("print(loss(", "torch.manual_seed(1)\nprint(loss(", "another-cause"),
    ],
)
def test_a_symptom_patch_is_not_proposed(case: CaseFolder, old: str, new: str, rule: str) -> None:
    before = history(case)
    result = call("propose_diagnosis", cause="log-of-zero", diff=changed(old, new), case=case.id)
    assert result.is_error
    assert rule in text(result)
    assert history(case) == before


def test_an_own_fix_is_tried_and_proposed(case: CaseFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[list[str]] = []

    async def work(ctx: object, words: list[str], budget: float, saying: str) -> working.Done:
        tried.append(words)
        return working.Done(0, '{"passed": true, "text": "ran to its end"}', "", 1.0)

    monkeypatch.setattr(proposing, "work", work)
    own = unified({"train.py": (PROGRAM, FIXED.replace("1e-6", "1e-5"))})
    result = call("propose_diagnosis", cause="log-of-zero", diff=own, summary="Clamp at 1e-5.", case=case.id)
    assert not result.is_error, text(result)
    assert [words[:2] for words in tried] == [["case", "try"]]
    assert result.structured_content["state"] == "diagnosed"
    assert result.structured_content["diff"] == own
    assert "the fix passes in a copy" in result.structured_content["said"]


def test_a_fix_that_does_not_pass_in_a_copy_is_not_passed_on(
    case: CaseFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(ctx: object, words: list[str], budget: float, saying: str) -> working.Done:
        return working.Done(1, '{"passed": false, "text": "still nan"}', "", 1.0)

    monkeypatch.setattr(proposing, "work", work)
    own = unified({"train.py": (PROGRAM, FIXED.replace("1e-6", "1e-9"))})
    result = call("propose_diagnosis", cause="log-of-zero", diff=own, case=case.id)
    assert "the fix does not pass in a copy" in result.structured_content["said"]
    assert result.structured_content["next"]["tool"] == "propose_diagnosis"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("open_case", {"script": "/etc/passwd"}),
        ("open_case", {"script": "../train.py"}),
        ("open_case", {"script": "-c"}),
        ("check_code", {"paths": ["/etc"]}),
    ],
)
def test_nothing_outside_of_the_project_is_run_or_read(
    case: CaseFolder, tool: str, arguments: dict[str, object]
) -> None:
    result = call(tool, **arguments)
    assert result.is_error
    assert "is no path in" in text(result)


def test_a_budget_is_bounded(case: CaseFolder) -> None:
    assert "outside of 1 to 1800" in text(call("check_code", budget_seconds=1e9))
