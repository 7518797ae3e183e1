"""Parts of a training that a library's objects hold: the schedule of a wrapped optimizer, a callback's average and counter."""

from __future__ import annotations

import copy
import sys
from types import SimpleNamespace

import torch

from firstcause.lab import components, held


class Average:
    def __init__(self, net: torch.nn.Module) -> None:
        self.average = copy.deepcopy(net)
        self.seen = 8


def kind(name: str) -> type:
    """A class as a library has it: what it holds is not looked into but by its name."""
    return type(name, (), {"__module__": "transformers.trainer"})


def test_the_schedule_of_a_wrapped_optimizer_is_one_of_its_training() -> None:
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    schedule.optimizer = SimpleNamespace(optimizer=optimizer)  # type: ignore[assignment]
    assert [c.thing for c in components.of_training(optimizer, []) if c.kind == "scheduler"] == [schedule]


def test_what_a_callback_of_a_trainer_holds_is_found() -> None:
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    trainer, handler, state = kind("Trainer")(), kind("CallbackHandler")(), kind("TrainerState")()
    handler.callbacks, state.global_step = [Average(net)], 3
    trainer.callback_handler, trainer.state = handler, state
    places = held.held_from(sys._getframe())
    assert {c.name: c.state for c in components.counters(places)} == {
        "TrainerState.global_step": 3,
        "Average.seen": 8,
    }
    (average,) = components.averages(optimizer, places)
    assert average.thing is handler.callbacks[0].average


class Trainer:
    """The program's own, which has a library's name."""

    def __init__(self) -> None:
        self.seen = 5
        self.state = Average(torch.nn.Linear(2, 1))


def test_a_trainer_of_the_program_is_looked_into_whole() -> None:
    trainer = Trainer()
    found = {c.name: c.state for c in components.counters(held.held_from(sys._getframe()))}
    assert found == {"Trainer.seen": trainer.seen, "Average.seen": 8}
