"""What the watchers of steps, modes and parameters see of small trainings, faulty and healthy."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from started import Start, train
from torch import nn

from firstcause.lab.audit import Call


def test_gradients_that_are_never_cleared_are_carried_from_step_to_step(start: Start) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.gradients_cleared")

    train(watch, model, optimizer, "backward", "step")

    (course,) = [c for c in watch.facts()["gradients"] if c["steps"]]
    assert (course["carried"], course["lost"]) == (7, 0)


@pytest.mark.parametrize("order", [("clear", "backward", "step"), ("backward", "step", "clear")])
def test_gradients_that_are_cleared_are_not_carried(start: Start, order: tuple[str, ...]) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.gradients_cleared")

    train(watch, model, optimizer, *order)

    (course,) = watch.facts()["gradients"]
    assert (course["carried"], course["lost"]) == (0, 0)


def test_gradients_that_the_program_lets_decay_are_meant_to_stay(start: Start) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.gradients_cleared")

    def decay() -> None:
        for p in model.parameters():
            assert p.grad is not None
            p.grad.mul_(0.9)

    train(watch, model, optimizer, "backward", "step", decay)

    (course,) = watch.facts()["gradients"]
    assert course["carried"] == 0


def test_gradients_cleared_before_the_step_are_lost_at_the_line_that_clears(start: Start) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.gradients_cleared")

    train(watch, model, optimizer, "backward", "clear", "step")

    (course,) = watch.facts()["gradients"]
    assert course["lost"] == 8
    assert course["cleared_at"]["text"] == "optimizer.zero_grad()"


def test_an_optimizer_that_never_steps_is_idle_unless_weights_are_moved_by_hand(start: Start) -> None:
    still, moved = nn.Linear(4, 2), nn.Linear(4, 2)
    first, second = torch.optim.SGD(still.parameters(), 0.01), torch.optim.SGD(moved.parameters(), 0.01)
    watch = start("audit.gradients_cleared")

    def move() -> None:
        for p in moved.parameters():
            assert p.grad is not None
            p.data.sub_(0.1 * p.grad)

    train(watch, still, first, "clear", "backward")
    train(watch, moved, second, "clear", "backward", move)

    (idle,) = watch.facts()["unstepped"]
    assert idle["backwards"] >= 8


def test_an_idle_optimizer_is_told_with_the_losses_of_its_own_passes(start: Start) -> None:
    made, judge = nn.Linear(4, 4), nn.Linear(4, 1)
    idle, busy = torch.optim.SGD(made.parameters(), 0.1), torch.optim.SGD(judge.parameters(), 0.1)
    watch = start("audit.gradients_cleared")

    for number in range(6):
        # Gradients of its own that are still there are none of this pass.
        for whole in (False, True):
            x = made(torch.randn(8, 4))
            loss = judge(x).mean() - 10 if whole else judge(x.detach()).mean() + 10
            if number % 2:
                idle.zero_grad()
            watch.loss(loss)
            loss.backward()
            watch.before_step(busy)
            busy.step()
            watch.after_step(busy)

    (course,) = watch.facts()["unstepped"]
    assert course["backwards"] == 6
    assert all(x < -5 for x in course["losses"])
    assert len(course["losses"]) == 6


class Stack:
    def __init__(self) -> None:
        self.layers = [nn.Linear(4, 4)]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self, middle: Any) -> None:
        super().__init__()
        self.middle = middle
        self.out = nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.middle if isinstance(self.middle, (list, nn.ModuleList)) else [self.middle]:
            x = part(x)
        return self.out(x)


@pytest.mark.parametrize(
    ("middle", "container"),
    [(lambda: [nn.Linear(4, 4)], ["Model", "middle"]), (Stack, ["Stack", "layers"])],
)
def test_a_module_that_the_model_has_not_registered_is_missing_with_its_container(
    start: Start, middle: Callable[[], Any], container: list[str]
) -> None:
    model = Model(middle())
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.parameters_held")

    train(watch, model, optimizer, "clear", "backward", "step")

    found = watch.facts()
    assert found["missing_count"] == 2
    assert {tuple(m["container"]) for m in found["missing"]} == {tuple(container)}
    assert {m["inside"] for m in found["missing"]} == {"Model"}


def test_registered_parts_are_held_and_one_left_out_of_the_optimizer_is_missing(start: Start) -> None:
    whole, partly = Model(nn.Linear(4, 4)), Model(nn.Linear(4, 4))
    watch = start("audit.parameters_held")

    train(watch, whole, torch.optim.SGD(whole.parameters(), 0.01), "clear", "backward", "step")
    assert watch.facts()["missing"] == []

    train(watch, partly, torch.optim.SGD(partly.out.parameters(), 0.01), "clear", "backward", "step")
    assert [m["name"] for m in watch.facts()["missing"]] == ["middle.weight", "middle.bias"]
    assert watch.facts()["of_no_module"] == 0


def test_what_was_replaced_is_held_by_the_optimizer_and_by_no_module(start: Start) -> None:
    model = Model(nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    model.out = nn.Linear(4, 3)
    watch = start("audit.parameters_held")

    train(watch, model, optimizer, "clear", "backward", "step")

    assert [m["name"] for m in watch.facts()["missing"]] == ["out.weight", "out.bias"]
    assert watch.facts()["of_no_module"] == 2


def test_what_is_replaced_between_two_stages_is_no_part_of_the_model_any_more(start: Start) -> None:
    model = Model(nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.parameters_held")

    train(watch, model, optimizer, "clear", "backward", "step")
    assert watch.facts()["of_no_module"] == 0
    model.out = nn.Linear(4, 3)
    train(watch, model, optimizer, "clear", "backward", "step")

    assert [m["class"] for m in watch.facts()["missing"]] == ["Linear", "Linear"]
    assert watch.facts()["of_no_module"] == 2


@pytest.mark.parametrize(
    ("every", "was_held", "is_missing"), [(3, True, True), (1, True, False), (3, False, False)]
)
def test_what_is_put_in_anew_from_time_to_time_is_missing_where_it_was_to_be_trained(
    every: int, was_held: bool, is_missing: bool, start: Start
) -> None:
    model = Model(nn.Linear(4, 4))
    trained = model.parameters() if was_held else [*model.middle.parameters(), model.out.bias]
    optimizer = torch.optim.SGD(trained, 0.01)
    watch = start("audit.parameters_held")

    for _ in range(12 // every):
        # A program that puts in another at each step trains it by its own hand.
        model.out.weight = nn.Parameter(torch.randn_like(model.out.weight))
        train(watch, model, optimizer, "clear", "backward", "step", steps=every)
    model.out.weight = nn.Parameter(torch.randn_like(model.out.weight))

    assert [m["name"] for m in watch.facts()["missing"]] == (["out.weight"] if is_missing else [])
    assert watch.facts()["of_no_module"] == int(was_held)


def test_what_is_put_in_anew_with_an_optimizer_of_its_own_is_held(start: Start) -> None:
    model = Model(nn.Linear(4, 4))
    watch = start("audit.parameters_held")

    for _ in range(4):
        model.out.weight = nn.Parameter(torch.randn_like(model.out.weight))
        train(watch, model, torch.optim.SGD(model.parameters(), 0.01), "clear", "backward", "step", steps=4)

    assert watch.facts()["missing"] == []


def test_what_the_program_moves_by_hand_before_it_is_replaced_is_not_missing(start: Start) -> None:
    model = Model(nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.parameters_held")

    def move() -> None:
        assert model.out.weight.grad is not None
        model.out.weight.data.sub_(0.1 * model.out.weight.grad)

    for _ in range(3):
        model.out.weight = nn.Parameter(torch.randn_like(model.out.weight))
        train(watch, model, optimizer, "clear", "backward", move, "step", steps=4)

    assert watch.facts()["missing"] == []


def test_what_is_taken_out_after_the_training_was_a_part_throughout(start: Start) -> None:
    model = Model(nn.Linear(4, 4))
    watch = start("audit.parameters_held")

    train(watch, model, torch.optim.SGD(model.middle.parameters(), 0.01), "clear", "backward", "step")
    model.middle = nn.Identity()

    assert watch.facts()["of_no_module"] == 0


def test_one_object_at_several_places_is_shared_and_its_copies_can_be_trained_apart(start: Start) -> None:
    model = Model(nn.ModuleList([nn.Linear(4, 4)] * 3))
    watch = start("audit.parameters_held")
    train(watch, model, torch.optim.SGD(model.parameters(), 0.01), "clear", "backward", "step")
    assert [one["paths"] for one in watch.facts()["shared"]] == [["middle.0", "middle.1", "middle.2"]]

    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    change = start("interventions.train_also", apart="containers")
    train(change, model, optimizer, "clear", "backward", "step")
    assert len({id(m) for m in model.middle}) == 3
    assert change.facts()["added"] == 2 * (4 * 4 + 4)


@pytest.mark.parametrize(("back", "steps"), [(False, 8), (True, 0)])
def test_steps_in_the_mode_of_an_evaluation_are_counted_unless_it_is_switched_back(
    start: Start, back: bool, steps: int
) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    watch = start("audit.modes_of_steps")

    model.eval()
    with torch.no_grad():
        model(torch.randn(2, 4))
    if back:
        model.train()
    train(watch, model, torch.optim.SGD(model.parameters(), 0.01), "clear", "backward", "step")

    modes = watch.facts()["modes"]
    assert sum(one["steps"] for one in modes["left"]) == steps
    assert modes["trained"] == 8 - steps


def test_layers_that_are_kept_in_evaluation_mode_by_themselves_are_meant(start: Start) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    watch = start("audit.modes_of_steps")

    model[1].eval()
    train(watch, model, torch.optim.SGD(model.parameters(), 0.01), "clear", "backward", "step")

    assert watch.facts()["modes"]["left"] == []


def evaluate(model: nn.Module, *batches: torch.Tensor) -> None:
    with torch.no_grad():
        for batch in batches:
            model(batch)


def test_an_evaluation_in_which_dropout_acts_differs_from_its_second_pass(start: Start) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.evaluations_repeated")
    state = torch.get_rng_state()
    evaluate(model, torch.randn(8, 4))
    after = torch.rand(1)

    (found,) = watch.facts()["evaluations"]
    assert found["figures"][0][0] > 0.1
    assert found["figures"][0][1] == 0.0

    # The program's own random numbers are those that it would have drawn.
    watch.busy = True
    torch.set_rng_state(state)
    evaluate(model, torch.randn(8, 4))
    assert torch.equal(torch.rand(1), after)
    assert optimizer.param_groups


@pytest.mark.parametrize("repeats", [0, 3])
def test_evaluation_mode_and_estimates_over_many_passes_are_healthy(start: Start, repeats: int) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    watch = start("audit.evaluations_repeated")
    batch = torch.randn(8, 4)
    if not repeats:
        model.eval()

    evaluate(model, *[batch] * (repeats or 1))

    assert watch.facts()["evaluations"] == []
    assert optimizer.param_groups


class Dropping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)


def quality(model: nn.Module, batch: torch.Tensor) -> None:
    with torch.no_grad():
        model(batch)


@pytest.mark.parametrize("evaluating", [True, False])
def test_where_a_model_is_in_evaluation_mode_the_name_of_the_function_does_not_matter(
    start: Start, evaluating: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = start("audit.evaluations_repeated")
    # This function's own name is one of an evaluation.
    monkeypatch.setattr(sys.modules[type(watch).__module__], "EVALUATES", re.compile("^evaluate$"))

    def forward(x: torch.Tensor) -> torch.Tensor:
        if not watch.busy:
            watch.called(Call("dropout", nn.functional.dropout, (x,), {"p": 0.5, "training": True}, None))
        return nn.functional.dropout(model.mix(x), 0.5)

    model = Dropping().train(not evaluating)
    model.forward = forward  # type: ignore[method-assign]
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    quality(model, torch.randn(8, 4))

    assert [e["function"] for e in watch.facts()["evaluations"]] == ["quality"] * evaluating
    assert optimizer.param_groups


def test_a_function_that_drops_in_evaluation_mode_is_told_with_its_line(start: Start) -> None:
    watch = start("audit.evaluations_repeated")
    layer = nn.Linear(2, 2).eval()
    watch.running.append(layer)
    with torch.no_grad():
        watch.called(
            Call("dropout", nn.functional.dropout, (torch.ones(2),), {"p": 0.5, "training": True}, None)
        )
        watch.called(
            Call("dropout", nn.functional.dropout, (torch.ones(2),), {"p": 0.5, "training": False}, None)
        )
    assert [d["kind"] for d in watch.dropping] == ["function"]


def test_steps_are_as_if_gradients_had_been_cleared_kept_or_used(start: Start) -> None:
    def trained(change: str | None, *order: str) -> list[float]:
        torch.manual_seed(0)
        model = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.autograd, "backward", torch.autograd.backward)
            watch = start(f"interventions.{change or 'control'}")
            train(watch, model, optimizer, *order)
        return [float(p.sum()) for p in model.parameters()]

    right = trained(None, "clear", "backward", "step")
    assert trained("clear_after_step", "backward", "step") == pytest.approx(right)
    assert trained("keep_until_step", "backward", "clear", "step") == pytest.approx(right)
    assert trained("step_after_backward", "clear", "backward") == pytest.approx(right)
    assert trained(None, "backward", "step") != pytest.approx(right)
