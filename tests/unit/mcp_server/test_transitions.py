"""Every transition that comes before its time is refused, in words that name what is missing and the next call."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from firstcause.mcp.cases import required
from firstcause.mcp.order import FREE, NEEDS, STATES, allowed
from firstcause.mcp.refusing import Refusal
from firstcause.mcp.server import TOOLS
from firstcause.schema import State
from mcp_server.calling import call, history, in_state, text

ARGUMENTS = {
    "add_evidence": {"cause": "log-of-zero", "observation": "seen", "supports": True},
    "propose_diagnosis": {"cause": "log-of-zero"},
}


@pytest.mark.parametrize("state", get_args(State))
def test_what_comes_before_its_time_is_refused(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = in_state(tmp_path, state)
    monkeypatch.chdir(tmp_path)
    assert case.progress().case.state == state
    before = history(case)
    for tool, states in STATES.items():
        if state in states:
            required(case.id, tool)
            continue
        result = call(tool, case=case.id, **ARGUMENTS.get(tool, {}))
        said = text(result)
        assert result.is_error, tool
        assert f"is {state}, and {tool} is for" in said
        assert f"Missing: {NEEDS[tool]}." in said
        assert "Next: " in said
        step = result.structured_content["next"]
        assert step["person"] or step["tool"] in (*allowed(state), *FREE), (tool, step)
    assert history(case) == before


def test_each_tool_has_its_place_in_the_order() -> None:
    assert [tool for tool in STATES if "diagnosed" in STATES[tool]] == [
        "run_probe",
        "add_evidence",
        "propose_diagnosis",
        "request_approval",
    ]
    assert {state: allowed(state) for state in ("approved", "fixed", "verified", "stopped", "closed")} == {
        "approved": ["apply_fix"],
        "fixed": ["verify_fix"],
        "verified": [],
        "stopped": ["run_probe"],
        "closed": [],
    }
    names = {tool.__name__ for tool, _ in TOOLS}
    assert names == {*STATES, *FREE}
    assert set(NEEDS) == set(STATES)
    assert not [name for name in names if "approve" in name]


def test_status_tells_enough_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = in_state(tmp_path, "diagnosed")
    monkeypatch.chdir(tmp_path)
    plain = call("case_status").structured_content
    assert (plain["case"], plain["state"]) == (case.id, "diagnosed")
    assert plain["next"]["tool"] == "request_approval"
    assert plain["allowed"] == ["run_probe", "add_evidence", "propose_diagnosis", "request_approval"]
    assert [h["status"] for h in plain["hypotheses"]] == ["confirmed", "refuted", "inconclusive"]
    assert plain["diff"].startswith("--- a/train.py")


def test_without_a_case_the_next_call_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = call("case_status")
    assert result.is_error
    assert result.structured_content["next"]["tool"] == "open_case"
    with pytest.raises(Refusal, match="verify_fix"):
        required(in_state(tmp_path, "diagnosed").id, "verify_fix")
