"""The gate through all scenarios: triage by the server for the words, hook and refusals for every program."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from firstcause.case import CaseFolder, find_case, open_case
from firstcause.mcp.server import server
from firstcause.record.folder import RunFolder
from firstcause.schema import SECTIONS, Diagnosis, Evidence, Fix, Hypothesis, Run, Site, Symptom
from pressure.arms import ARMS
from pressure.desk import Desk
from pressure.fixture import PROGRAM, Fixture, changed_lines, diff
from pressure.fixtures import executing
from pressure.person import approve_case
from pressure.scenario import Scenario, scenarios
from pressure.symptom_patch import symptom_patch
from pressure.transcript import Transcript


def tool(name: str, **arguments: Any) -> Any:
    async def once() -> Any:
        async with Client(server()) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(once())


def opened(folder: Path, fixture: Fixture) -> CaseFolder:
    """A case of the program whose diagnosis is the truth, and whose fix waits for a person."""
    line = min(changed_lines(fixture.faulty, fixture.fixed))
    site = Site(PROGRAM, line, "", fixture.faulty.split("\n")[line - 1])
    symptom = Symptom("exception", "it failed", site, 0)
    run = Run(
        *("r1", ("python", PROGRAM), str(folder), "2026-11-28T09:30:12Z", "3.11", "linux"),
        seconds=1.0,
        exit_code=1,
        sources={PROGRAM: hashlib.sha256((folder / PROGRAM).read_bytes()).hexdigest()},
        symptoms=(symptom,),
        observed=True,
    )
    record = folder / ".firstcause" / "runs" / "r1"
    record.mkdir(parents=True)
    RunFolder(str(record)).write_run(run)
    cause = str(fixture.truth["cause"])
    fact = Evidence("replay", True, f"measured at {PROGRAM}:{line}", {"value": 0.0}, site, 0)
    made = Diagnosis(
        "established",
        symptom,
        cause,
        site,
        (Hypothesis(cause, site, 1, "confirmed", (fact,)),),
        dict.fromkeys(SECTIONS, "Said."),
        Fix(cause, diff(fixture.faulty, fixture.fixed), "Change it.", "The line.", "The rest."),
    )
    case = open_case(str(folder / ".firstcause"), "r1", str(record), made)
    return find_case(str(folder / ".firstcause"), case.id)


@pytest.mark.parametrize("scenario", executing(), ids=lambda one: one.id)
def test_the_gate_holds_on_every_program(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fixture = Fixture(scenario.fixture)
    talk = Transcript()
    desk = Desk(tmp_path, ARMS["skill+mcp+hook"], talk, fixture, None)
    case = opened(tmp_path, fixture)

    # In a hurry: by the tool for files, and by the shell.
    assert "has no approved fix" in desk.call("write_file", {"path": PROGRAM, "text": fixture.fixed})
    assert "has no approved fix" in desk.call("shell", {"command": f"sed -i 's/a/b/' {PROGRAM}"})
    assert "person's act" in desk.call("shell", {"command": "firstcause case approve"})
    assert [event.kind for event in talk.of("edit", "denied")] == ["denied"] * 3
    # By the server: what comes before its time is refused, and nothing approves.
    for name in ("apply_fix", "verify_fix"):
        refused = tool(name)
        assert (refused.is_error, refused.content[0].text.startswith("Refused: ")) == (True, True)
    assert (tmp_path / PROGRAM).read_text() == fixture.faulty

    assert approve_case(tmp_path)
    assert case.progress().case.state == "approved"
    assert not approve_case(tmp_path)
    assert not tool("apply_fix").is_error
    assert (tmp_path / PROGRAM).read_text().rstrip("\n") == fixture.fixed.rstrip("\n")
    # An approval is for one diff, once.
    assert tool("apply_fix").is_error


def test_enough_scenarios_have_a_program() -> None:
    assert len(executing()) >= 24
    assert len({one.fixture for one in executing()}) == len(executing())


@pytest.mark.parametrize("scenario", executing(), ids=lambda one: one.id)
def test_a_hidden_symptom_is_another_program(scenario: Scenario) -> None:
    fixture = Fixture(scenario.fixture)
    hidden = symptom_patch(fixture)
    compile(hidden, "train.py", "exec")
    assert hidden not in (fixture.faulty, fixture.fixed)


def test_the_server_sorts_all_words() -> None:
    async def all_of_them() -> dict[str, Any]:
        async with Client(server()) as client:
            return {
                one.id: (await client.call_tool("triage", {"text": one.says})).structured_content
                for one in scenarios().values()
            }

    answers = asyncio.run(all_of_them())
    assert len(answers) == 111
    for name, answer in answers.items():
        step = answer["next"]
        assert step["tool"] or step["person"], f"{name}: {json.dumps(step)}"
    # Where one question is due, it is the person who is asked next.
    asking = [one.id for one in scenarios().values() if one.asks == "question"]
    assert [name for name in asking if not answers[name]["next"]["person"]] == []


def test_the_environment_is_left_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ARMS["none"], Transcript(), None, None)
    assert "lies outside" in desk.call("read_file", {"path": "../../etc/hostname"})
    assert "there is no tool" in desk.call("read_skill", {"name": "firstcause"})
    assert os.listdir(tmp_path) == []
    assert not approve_case(tmp_path)
