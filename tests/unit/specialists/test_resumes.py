"""Resumed trainings, settled on rows of figures: what counts as going on, and what a straight run proves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Hypothesis, Symptom
from firstcause.specialists import positions, resumes
from firstcause.specialists.checkpointing_and_reproducibility import (
    optimizer_state_not_restored,
    step_counter_not_restored,
)
from firstcause.specialists.examination import Examination

SITE = {"file": "/p/train.py", "line": 7, "function": "save", "text": "torch.save(state, path)"}
STRAIGHT = [1.0, 0.8, 0.6, 0.5, 0.4, 0.3]


def rows(run: int, losses: Sequence[float], batches: Sequence[str], start: int = 0) -> list[dict[str, Any]]:
    # What a step enters with depends on its place alone, as in runs that compute the same so far.
    return [
        {"run": run, "loss": x, "batch": b, "entering": f"w{start + n}", "update": 0.01, "lr": 0.1}
        for n, (x, b) in enumerate(zip(losses, batches, strict=True))
    ]


def ran(resumed: Sequence[float], batches: Sequence[str] = "def", missing: bool = True, **event: Any) -> Ran:
    part = {"kind": "optimizer", "name": "Adam", "in_file": False, "then": 4, "now": 0}
    part |= {"saves": [], "loads": [], "steps": [], "class": "Adam"}
    whole = rows(0, STRAIGHT, "abcdef") + rows(1, STRAIGHT[:3], "abc") + rows(2, resumed, batches, 3)
    facts = {"row": 9, "saved_row": 8, "save": SITE, "load": SITE | {"line": 9}, "frames": []}
    facts |= {"positions": {"epoch": 3}, "restored": [], "same": True, "missing": [part] if missing else []}
    return Ran("audit", "program", tuple(whole), facts={"resumed": [facts | event]})


class Lab:
    """Arms by the change that they make: what is put back, or by how much the position is moved."""

    seconds_left = 100.0

    def __init__(self, *, as_it_ran: Ran, changed: Ran) -> None:
        self.as_it_ran, self.changed = as_it_ran, changed

    def horizon(self, least: int) -> int:
        return least

    def from_start(self, arms: Sequence[Arm], steps: int) -> dict[str, Ran]:
        changed = ("carry", "shift")
        return {
            a.name: self.changed if any(k in a.settings for k in changed) else self.as_it_ran for a in arms
        }


class Source:
    """A project whose source saves and loads."""

    modules = (type("Module", (), {"text": "torch.save(x)\nnet.load_state_dict(y)\n"})(),)


def examination(as_it_ran: Ran, changed: Ran) -> Examination:
    run: Any = type("Run", (), {"folder": "/p", "command": ("python", "train.py")})()
    made = Examination(None, run, Symptom("invariant", ""), None, Lab(as_it_ran=as_it_ran, changed=changed))  # type: ignore[arg-type]
    made.__dict__["project"] = Source()
    return made


def status(module: Any, as_it_ran: Ran, changed: Ran) -> str:
    settled = module.settle(Hypothesis(module.CAUSE, None, 0), examination(as_it_ran, changed))
    return str(settled.status)


def test_a_resume_that_equals_the_straight_run_with_the_state_put_back_is_proven() -> None:
    assert status(optimizer_state_not_restored, ran([0.5, 0.7, 0.6]), ran(STRAIGHT[3:])) == "confirmed"


def test_a_resume_that_still_differs_is_not() -> None:
    assert status(optimizer_state_not_restored, ran([0.5, 0.7, 0.6]), ran([0.5, 0.9, 0.6])) == "inconclusive"


def test_a_resume_that_does_not_differ_is_not() -> None:
    assert status(optimizer_state_not_restored, ran(STRAIGHT[3:]), ran(STRAIGHT[3:])) == "inconclusive"


@pytest.mark.parametrize("event", [{"same": False}, {"positions": {}, "missing": []}])
def test_another_optimizer_or_nothing_missing_is_no_word_worth(event: dict[str, Any]) -> None:
    assert resumes.lacking(ran([0.5, 0.7, 0.6], **event), "optimizer") == {}


def test_weights_without_a_position_on_other_data_are_a_warm_start() -> None:
    found = ran([2.5, 2.0, 1.8], batches="xyz", positions={})
    assert resumes.lacking(found, "optimizer") == {}


def test_batches_that_come_again_tell_by_how_many_steps_and_their_position_proves_it() -> None:
    again = ran([0.5, 0.45, 0.4], batches="bcd", missing=False)
    event = positions.misplaced(again)
    assert event["moved"] == -2
    assert status(step_counter_not_restored, again, ran(STRAIGHT[3:], missing=False)) == "confirmed"


def test_batches_that_go_on_are_in_their_place() -> None:
    assert positions.misplaced(ran(STRAIGHT[3:], missing=False)) == {}
