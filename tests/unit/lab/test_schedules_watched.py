"""What the watcher of schedules sees of small trainings, and the changes that put a schedule right."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from started import Start, train
from torch import nn
from torch.optim import lr_scheduler


def test_a_schedule_is_counted_beside_the_steps_with_its_end_and_its_rates(start: Start) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = lr_scheduler.StepLR(optimizer, 2, 0.1)
    watch = start("audit.schedule_steps")

    train(watch, model, optimizer, "clear", "backward", "step", schedule.step)

    (told,) = [s for s in watch.facts()["schedules"] if s["calls"]]
    assert (told["calls"], told["steps"], told["end"], told["early"]) == (8, 8, 2, False)
    assert told["floor_at"] == 4
    assert told["rates"] == pytest.approx([0.1, 1e-5])


@pytest.mark.filterwarnings("ignore:Detected call")
@pytest.mark.parametrize("order", [("first", True), ("after backward", True), ("scaler", False)])
def test_a_schedule_is_early_before_the_first_step_and_not_where_a_scaler_left_that_out(
    start: Start, order: tuple[str, bool]
) -> None:
    from firstcause.lab.counterfactual import Ran
    from firstcause.specialists.mixed_precision_and_optimization import scheduler_before_optimizer as cause

    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    watch = start("audit.schedule_steps")
    if order[0] != "first":
        watch.loss(loss := model(torch.ones(1, 4)).sum())
        loss.backward()
    if order[0] == "scaler":
        scaler = torch.amp.GradScaler("cpu")
        model.weight.grad = torch.full_like(model.weight, float("inf"))
        scaler.scale(torch.ones(()))
        assert scaler.step(optimizer) is None
    schedule.step()

    train(watch, model, optimizer, "clear", "backward", "step", schedule.step)

    found = watch.facts()
    (told,) = [s for s in found["schedules"] if s["calls"]]
    assert (told["early"], told["first_rates"]) == (order[1], pytest.approx([0.1, 0.05]))
    assert (cause.seen(Ran("audit", "program", facts=found), None) is not None) == order[1]  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:Detected call")
def test_the_call_before_the_first_step_can_be_left_out(start: Start) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    start("interventions.schedule_clock", first=False)
    rates = []
    for _ in range(3):
        schedule.step()
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.1, 0.05, 0.025])


@pytest.mark.parametrize(
    ("make", "end"),
    [
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 30), 30),
        (lambda o: lr_scheduler.MultiStepLR(o, [4, 9]), 9),
        (lambda o: lr_scheduler.LambdaLR(o, lambda k: max(0.0, 1 - k / 50)), 50),
        (lambda o: lr_scheduler.LambdaLR(o, lambda k: min(1.0, k / 5)), None),
    ],
)
def test_a_schedule_says_after_how_many_calls_it_is_over(make: Callable[[Any], Any], end: int | None) -> None:
    from firstcause.lab.schedules import end_of

    assert end_of(make(torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1))) == end


def warming(step: int) -> float:
    total_steps, warmup = 60, 20
    return (step + 1) / warmup if step < warmup else max(0.05, (total_steps - step) / (total_steps - warmup))


@pytest.mark.parametrize(
    ("make", "warm_up", "settled"),
    [
        (lambda o: lr_scheduler.LambdaLR(o, warming), 19, 58),
        (lambda o: lr_scheduler.LambdaLR(o, functools.partial(pow, 0.99)), None, None),
        (lambda o: lr_scheduler.LambdaLR(o, lambda k: 1.1**k if k < 900 else 1.1**900), 900, None),
        (lambda o: lr_scheduler.LambdaLR(o, lambda k: 0.55 + 0.45 * math.cos(math.pi * k / 30)), None, 30),
        (lambda o: lr_scheduler.LambdaLR(o, lambda k: min((k + 1) ** -0.5, (k + 1) * 50**-1.5)), 49, None),
        (lambda o: lr_scheduler.LambdaLR(o, lambda k: 1.0), None, None),
        (lambda o: lr_scheduler.LambdaLR(o, lambda k: [1.0, 0.5, 0.1][k]), None, None),
        (lambda o: lr_scheduler.LinearLR(o, 0.01, total_iters=40), 40, None),
        (lambda o: lr_scheduler.LinearLR(o, 1.0, 0.1, total_iters=40), None, 40),
        (
            lambda o: lr_scheduler.SequentialLR(
                o,
                [lr_scheduler.LinearLR(o, 0.01, total_iters=40), lr_scheduler.CosineAnnealingLR(o, 60)],
                [40],
            ),
            40,
            100,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Detected call")
def test_a_schedule_shows_how_long_it_rises_and_when_it_falls_no_more(
    make: Callable[[Any], Any], warm_up: int | None, settled: int | None
) -> None:
    from firstcause.lab.schedule_shapes import shape_of

    shape = shape_of(make(torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)))

    assert (shape["warm_up"], shape["settled"]) == (warm_up, settled)


def test_a_factor_tells_the_names_that_it_counts_by() -> None:
    from firstcause.lab.schedule_shapes import shape_of

    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)
    warmup_epochs = 5

    def by_epoch(k: int) -> float:
        return min(1.0, (k + 1) / warmup_epochs)

    def by_step(current_step: int, *, num_warmup_steps: int) -> float:
        return min(1.0, (current_step + 1) / num_warmup_steps)

    factors = (by_epoch, functools.partial(by_step, num_warmup_steps=9))
    words = [shape_of(lr_scheduler.LambdaLR(optimizer, f))["words"] for f in factors]

    assert "warmup_epochs" in words[0]
    assert {"current_step", "num_warmup_steps"} <= set(words[1])


@pytest.mark.parametrize(("every", "left"), [(4, 2), (None, 8)])
def test_a_schedule_can_be_put_on_another_clock(start: Start, every: int | None, left: int) -> None:
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    change = start("interventions.schedule_clock", every=every)

    train(change, model, optimizer, "clear", "backward", "step", schedule.step)

    assert schedule.last_epoch == left
