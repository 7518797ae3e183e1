"""The arm that asks all watchers: one that fails is dropped and named, and the others go on."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch

from firstcause.lab.arm import Running
from firstcause.lab.audit import Watcher
from firstcause.lab.audit import modes_of_steps as stands_in
from firstcause.lab.interventions.audit import Change


class Fails(Watcher):
    CALLS = frozenset({"exp"})

    def called(self, call: Any) -> None:
        raise KeyError("first")


class Counts(Watcher):
    CALLS = frozenset({"exp"})

    def start(self) -> None:
        self.calls = 0

    def called(self, call: Any) -> None:
        self.calls += 1

    def facts(self) -> dict[str, Any]:
        return {"calls": self.calls}


def test_a_watcher_that_fails_is_named_and_the_others_go_on(monkeypatch: Any) -> None:
    made = iter((Fails, Counts))
    monkeypatch.setattr(stands_in, "Watch", lambda settings, recorder: next(made)(settings, recorder))
    change = Change({"watch": ["modes_of_steps", "modes_of_steps"]}, None)  # type: ignore[arg-type]
    change.start()
    try:
        torch.ones(2).exp()
        torch.ones(2).exp()
    finally:
        change.calls.__exit__(None, None, None)
    facts = change.facts()
    assert facts["calls"] == 2
    assert facts["failed"] == {"test_audit_arm": "KeyError('first')"}


@pytest.mark.parametrize(("settings", "ended"), [({}, ["steps"]), ({"align": True}, [])])
def test_an_audit_out_of_time_ends_with_what_it_has_seen_and_an_experiment_goes_on(
    settings: dict[str, Any], ended: list[str]
) -> None:
    arm = {"name": "audited", "change": "audit", "settings": {"watch": ["modes_of_steps"], **settings}}
    running = Running(arm, {"steps": 100, "until": time.monotonic()}, None)  # type: ignore[arg-type]
    told: list[str] = []
    running.finish = lambda facts: told.append(facts["ended"])
    running.change.watchers, running.change.failed = [], {}
    running.rows = [{} for _ in range(20)]

    running.stepped(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1))

    assert told == ended
