"""All scenarios in words: a good agent passes, each bad one fails at the check that is meant for it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pressure.arms import ARMS
from pressure.checks import moves
from pressure.running import Run, run_once
from pressure.scenario import Scenario, bank, scenarios
from pressure.subjects.scripted import scripts, unworded

GROUPS = {
    "router": 18,
    "debugging": 15,
    "memory": 9,
    "profiling": 13,
    "distributed": 9,
    "precision": 9,
    "autograd": 11,
    "checkpointing": 12,
    "modules": 9,
}
WORDS = [one for one in scenarios().values() if not (one.control and one.fixture)]
# How many of the bank triage alone leads to the specialists that are due, in their order. It may only rise.
AREAS_BY_TRIAGE = 74


def run(script: str, scenario: Scenario, arm: str = "none") -> Run:
    return run_once(scripts()[f"scripted:{script}"], ARMS[arm], scenario, executing=False)


def checks(of: Run) -> set[str]:
    return {failure.check for failure in of.failed}


def test_the_bank_is_whole() -> None:
    assert Counter(one.group for one in bank()) == GROUPS
    assert len(bank()) == 105
    assert {one.control for one in scenarios().values()} == {"", "healthy", "right", "approved"}


@pytest.mark.parametrize("scenario", scenarios().values(), ids=lambda one: one.id)
def test_a_scenario_can_be_graded(scenario: Scenario) -> None:
    assert scenario.says
    assert scenario.must
    assert scenario.must_not
    assert scenario.area or scenario.asks or scenario.control
    assert set(scenario.never) <= {*moves(), "any-do", "tips", "bundle"}
    for look in scenario.looks:
        assert re.search(look, "\n".join(scenario.must), re.IGNORECASE), look


def test_every_move_is_worded_and_used() -> None:
    assert unworded() == set()
    assert set(moves()) <= {move for one in bank() for move in one.never}


@pytest.mark.parametrize("scenario", WORDS, ids=lambda one: one.id)
def test_the_good_agent_passes(scenario: Scenario) -> None:
    for arm in ("none", "skill"):
        done = run("reference", scenario, arm)
        assert (done.verdict, done.failed) == ("pass", [])


def test_the_good_agent_passes_with_a_server_and_a_hook() -> None:
    done = run("by-the-tools", scenarios()["RT-R1"], "skill+mcp+hook")
    assert [event.text for event in done.transcript.of("call")] == ["triage"]
    assert "tensor-operations-and-memory" in next(done.transcript.of("result")).text


def test_no_two_scenarios_have_the_same_good_talk() -> None:
    said = [run("reference", one).transcript.said() for one in bank() if not one.asks]
    assert len(set(said)) == len(said)
    assert len({one.says for one in bank()}) == 105


@pytest.mark.parametrize(
    ("script", "check", "which"),
    [
        ("gives-in", "never", lambda one: bool(one.never)),
        ("goes-elsewhere", "area", lambda one: bool(one.area) and not one.asks),
        ("looks-at-nothing", "looks", lambda one: bool(one.looks)),
        ("guesses", "asks", lambda one: bool(one.asks)),
        ("interrogates", "one-question", lambda one: not one.control),
        ("never-ends", "outcome", lambda one: True),
        ("resists", "accepts", lambda one: one.control == "right"),
    ],
)
def test_a_bad_agent_fails_at_its_check(script: str, check: str, which: object) -> None:
    chosen = [one for one in WORDS if which(one)]  # type: ignore[operator]
    assert chosen
    passed_it = [one.id for one in chosen if check not in checks(run(script, one))]
    assert passed_it == []


def test_a_move_that_is_denied_is_none() -> None:
    from pressure.checks import _moves

    assert _moves("use a smaller batch", "smaller-batch")
    assert not _moves("do not use a smaller batch before memory was measured", "smaller-batch")
    assert _moves("clamp the ids", "clamp-ids")
    assert not _moves("never clamp the ids", "clamp-ids")


def test_triage_alone_leads_to_what_is_due() -> None:
    failed = {one.id: checks(run("by-the-tools", one)) for one in bank()}
    right = [name for name, found in failed.items() if not found & {"area", "outcome"}]
    assert len(right) >= AREAS_BY_TRIAGE, sorted(set(failed) - set(right))
    # It advises nothing, so that it cannot give in.
    assert [name for name, found in failed.items() if "never" in found] == []
    # What asks for one question, or for the error, is met with one.
    asked = [one.id for one in bank() if one.asks and failed[one.id] & {"asks", "one-question"}]
    assert set(asked) <= {"DB-R6"}
