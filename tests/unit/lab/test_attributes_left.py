"""Plain tensors that a state dict leaves out: a loaded model that computes something else without them, and what is none."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from firstcause.lab.audit import WATCHERS
from firstcause.lab.audit.attributes_left import Watch
from firstcause.lab.counterfactual import Ran
from firstcause.specialists.module_design_patterns import tensor_attribute_not_a_buffer as cause


class Scaled(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(3)
        self.net = nn.Linear(3, 1)
        self.dropped = nn.Dropout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.net(self.dropped(x - self.mean))
        return result


class Cached(Scaled):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = x.mean(0)
        result: torch.Tensor = self.net(x)
        return result


class Kept(Scaled):
    """A tensor that is for show: it changes nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.net(x)
        return result


class Registered(Scaled):
    def __init__(self) -> None:
        super().__init__()
        del self.mean
        self.register_buffer("mean", torch.zeros(3))


@pytest.fixture
def watch() -> Iterator[Watch]:
    before = nn.Module.state_dict, nn.Module.load_state_dict
    made = Watch({}, None)  # type: ignore[arg-type]
    made.start()
    hook = torch.nn.modules.module.register_module_forward_hook(made.ran)
    yield made
    hook.remove()
    nn.Module.state_dict, nn.Module.load_state_dict = before


def saved(kind: type[Scaled]) -> tuple[Scaled, dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    model = kind()
    model(torch.randn(4, 3))
    model.mean = torch.tensor([1.0, 2.0, 3.0])
    return model, model.state_dict()


def seen(watch: Watch) -> str | None:
    return cause.seen(Ran("audit", "steps", facts=watch.facts()), None)  # type: ignore[arg-type]


def test_a_mean_that_is_no_buffer_is_told_with_what_it_was(watch: Watch) -> None:
    _, state = saved(Scaled)
    other = Scaled()
    other.load_state_dict(state)
    random = torch.get_rng_state()
    other.train()
    other(torch.randn(4, 3))
    found = watch.facts()["attributes_left"]
    assert (found["class"], found["path"], found["names"]) == ("Scaled", "", ["mean"])
    assert (found["saved"], found["loaded"]) == ([1.0, 3.0], [0.0, 0.0])
    assert found["then"] < 1e-6 < found["differs"]
    assert "other.load_state_dict(state)" in found["site"]["text"]
    assert "state_dict() leaves out" in (seen(watch) or "")
    # The program goes on as it would have: its mode, its numbers, its model.
    assert other.training
    assert other.dropped.training
    assert torch.equal(other.mean, torch.zeros(3))
    torch.set_rng_state(random)


@pytest.mark.parametrize("kind", [Cached, Kept, Registered])
def test_what_is_no_part_of_the_state_or_is_in_it_is_not_told(watch: Watch, kind: type[Scaled]) -> None:
    _, state = saved(kind)
    other = kind()
    other.load_state_dict(state)
    other(torch.randn(4, 3))
    assert watch.facts() == {}


class Several(Scaled):
    def forward(self, x: torch.Tensor) -> Any:
        return {"code": x.argmax(1), "both": (self.net(x - self.mean), x)}


class Counted(Scaled):
    def forward(self, x: torch.Tensor) -> Any:
        return (x - self.mean).argmax(1)


@pytest.mark.parametrize(("kind", "is_told"), [(Several, True), (Counted, False)])
def test_a_model_may_give_several_tensors_of_which_the_floating_ones_are_compared(
    watch: Watch, kind: type[Scaled], is_told: bool
) -> None:
    _, state = saved(kind)
    other = kind()
    other.load_state_dict(state)
    other(torch.randn(4, 3))
    assert bool(watch.facts()) is is_told


def test_the_state_that_is_loaded_need_not_be_the_last_one_that_was_saved(watch: Watch) -> None:
    model, state = saved(Scaled)
    best = {k: v.clone() for k, v in state.items()}
    with torch.no_grad():
        model.net.weight.add_(1)
    model(torch.randn(4, 3))
    model.mean = torch.zeros(3)
    model.state_dict()
    other = Scaled()
    other.load_state_dict(best)
    other(torch.randn(4, 3))
    assert watch.facts()["attributes_left"]["saved"] == [1.0, 3.0]


def test_what_the_program_sets_itself_before_the_first_call_is_not_told(watch: Watch) -> None:
    model, state = saved(Scaled)
    other = Scaled()
    other.load_state_dict(state)
    other.mean = model.mean
    other(torch.randn(4, 3))
    assert watch.facts() == {}


def test_a_state_of_another_kind_of_model_is_not_compared(watch: Watch) -> None:
    _, state = saved(Scaled)
    other = Kept()
    other.load_state_dict(state)
    other(torch.randn(4, 3))
    assert watch.facts() == {}


def test_a_model_that_cannot_be_called_again_ends_nothing(watch: Watch) -> None:
    class Once(Scaled):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not self.training:
                raise RuntimeError("never in evaluation mode")
            return super().forward(x)

    _, state = saved(Once)
    other = Once()
    other.load_state_dict(state)
    other(torch.randn(4, 3))
    assert watch.facts() == {}


def test_both_watchers_of_loading_see_the_program_s_own_line() -> None:
    before = nn.Module.state_dict, nn.Module.load_state_dict
    named = [n for n in WATCHERS if n in ("attributes_left", "states_loaded")]
    watchers = [importlib.import_module(f"firstcause.lab.audit.{n}").Watch({}, None) for n in named]
    try:
        for one in watchers:
            one.start()
        hook = torch.nn.modules.module.register_module_forward_hook(watchers[0].ran)
        _, state = saved(Scaled)
        other = Scaled()
        other.load_state_dict(state)
        other(torch.randn(4, 3))
        Scaled().load_state_dict({f"module.{k}": v for k, v in state.items()}, strict=False)
        hook.remove()
    finally:
        nn.Module.state_dict, nn.Module.load_state_dict = before
    found = {k: v for one in watchers for k, v in one.facts().items()}
    assert "other.load_state_dict(state)" in found["attributes_left"]["site"]["text"]
    assert "strict=False" in found["loaded"][0]["site"]["text"]
