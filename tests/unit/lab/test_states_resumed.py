"""Trainings that go on from their own file: what is missing after the load, in this process."""

from __future__ import annotations

import io
import json
import pickle
import random
from typing import Any

import numpy
import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from firstcause.lab.audit.states_resumed import Watch

PARTS = ("optimizer", "scheduler", "average", "generator")


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in (
        (torch, "save"),
        (torch, "load"),
        (nn.Module, "load_state_dict"),
        (pickle, "dump"),
        (json, "dump"),
        (torch, "set_rng_state"),
        (torch.random, "set_rng_state"),
        (random, "setstate"),
        (numpy.random, "set_state"),
        (torch.optim.Optimizer, "load_state_dict"),
        (torch.optim.lr_scheduler.LRScheduler, "load_state_dict"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))


class Training:
    """A small training with all that a checkpoint may forget."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.Linear(4, 1))
        self.average = AveragedModel(self.net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.01)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)

    def train(self, watch: Watch, steps: int) -> None:
        for _ in range(steps):
            x = torch.randn(8, 3)
            loss = (self.net(x) - x.sum(1, keepdim=True)).square().mean()
            watch.loss(loss)
            self.optimizer.zero_grad()
            loss.backward()
            watch.before_step(self.optimizer)
            self.optimizer.step()
            watch.figures()
            self.scheduler.step()
            self.average.update_parameters(self.net)

    def save(self, file: Any, leave_out: set[str]) -> None:
        state = {
            "net": self.net.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "average": self.average.state_dict(),
            "generator": torch.get_rng_state(),
            "epoch": 3,
        }
        torch.save({k: v for k, v in state.items() if k not in leave_out}, file)

    def load(self, file: Any) -> int:
        state = torch.load(file)
        self.net.load_state_dict(state["net"])
        for name in ("optimizer", "scheduler", "average"):
            if name in state:
                getattr(self, name).load_state_dict(state[name])
        if "generator" in state:
            torch.set_rng_state(state["generator"])
        epoch: int = state["epoch"]
        return epoch


def resumed(leave_out: set[str], **settings: Any) -> dict[str, Any]:
    watch = Watch(settings, None)  # type: ignore[arg-type]
    watch.start()
    first, file = Training(), io.BytesIO()
    first.train(watch, 4)
    first.save(file, leave_out)
    file.seek(0)
    second = Training()
    second.load(file)
    second.train(watch, 2)
    facts = watch.facts()
    assert facts["resumed_broken"] == ""
    (event,) = facts["resumed"]
    return dict(event)


@pytest.mark.parametrize("part", PARTS)
def test_what_the_file_leaves_out_is_missing_and_nothing_else(restored: None, part: str) -> None:
    event = resumed({part})
    assert {m["kind"] for m in event["missing"]} == {part}
    assert not any(m["in_file"] for m in event["missing"])
    assert event["positions"] == {"epoch": 3}
    assert event["same"]


def test_a_complete_checkpoint_misses_nothing(restored: None) -> None:
    assert resumed(set())["missing"] == []


def test_two_parts_are_both_told(restored: None) -> None:
    event = resumed({"optimizer", "average"})
    assert {m["kind"] for m in event["missing"]} == {"optimizer", "average"}


@pytest.mark.parametrize("part", ["optimizer", "scheduler", "average"])
def test_what_is_put_back_at_the_load_is_missing_no_more(restored: None, part: str) -> None:
    assert resumed({part}, carry=[part])["missing"] == []


def test_the_missing_thing_is_named_where_it_is_saved_and_where_it_is_loaded(restored: None) -> None:
    (part,) = resumed({"optimizer"})["missing"]
    names = {f["function"]: f["expression"] for f in (*part["saves"], *part["loads"])}
    assert names["save"] == "self.optimizer"
    assert names["load"] == "self.optimizer"


def test_weights_alone_that_are_loaded_elsewhere_are_no_resume(restored: None) -> None:
    watch = Watch({}, None)  # type: ignore[arg-type]
    watch.start()
    first, file = Training(), io.BytesIO()
    first.train(watch, 3)
    torch.save(first.net.state_dict(), file)
    file.seek(0)
    other = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.Linear(4, 1))
    other.load_state_dict(torch.load(file))
    first.train(watch, 2)
    assert watch.facts()["resumed"] == []
