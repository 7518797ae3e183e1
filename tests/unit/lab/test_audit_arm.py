"""The arm that asks all watchers: one that fails is dropped and named, and the others go on."""

from __future__ import annotations

from typing import Any

import torch

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
