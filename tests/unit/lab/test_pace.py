"""A measured pace begins when the first step is over: what is imported or built once is no part of a step's time."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from firstcause.lab import kept_results, own_time
from firstcause.lab.pace import Running

OPTIMIZER: Any = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)


@pytest.fixture
def running() -> Running:
    made = Running({"settings": {}}, {"steps": 100, "limit": 1e9}, None)  # type: ignore[arg-type]
    made.began = own_time.now()
    return made


def test_the_first_step_is_left_out_of_times_and_lines(running: Running) -> None:
    running.stacks[("other", -1, (("train.py", 3, "<module>"),))] = 400
    own_time.sleep(60.0)
    running.stepped(OPTIMIZER)
    own_time.sleep(0.25)
    running.stepped(OPTIMIZER)
    own_time.sleep(0.25)
    running.stepped(OPTIMIZER)
    assert running.times == pytest.approx([0.0, 0.25, 0.5], abs=0.1)
    assert not running.stacks


def test_a_line_of_later_steps_is_kept(running: Running) -> None:
    running.stepped(OPTIMIZER)
    running.stacks[("other", -1, ())] = 2
    running.stepped(OPTIMIZER)
    assert sum(running.stacks.values()) == 2


def test_what_a_piece_cost_in_the_first_step_is_forgotten_and_that_it_was_met_is_not(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_results, "PIECES", {})
    for _ in range(2):
        kept_results.watched(7, lambda: (1,), lambda: own_time.sleep(30.0))
    running.stepped(OPTIMIZER)
    kept_results.watched(7, lambda: (1,), lambda: own_time.sleep(0.5))
    facts = kept_results.of(7).facts()
    assert (facts["calls"], facts["repeats"], facts["distinct"]) == (3, 2, 1)
    assert facts["repeated_seconds"] == pytest.approx(0.5, abs=0.1)
