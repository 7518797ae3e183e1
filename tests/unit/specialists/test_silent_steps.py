"""Which audits of a training are worth an experiment: faults of steps, modes and schedules, and their healthy neighbours."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.source.project import Project
from firstcause.specialists import audits, left_out, schedules
from firstcause.specialists.debugging_techniques import (
    eval_mode_in_training,
    missing_zero_grad,
    optimizer_step_missing,
    zero_grad_before_step,
)
from firstcause.specialists.gains import gained
from firstcause.specialists.module_design_patterns import dropout_active_at_eval

SITE = {"file": "/w/train.py", "line": 3, "function": "fit", "text": "loss.backward()"}
COURSE = {"optimizer": "Adam", "parameters": 4, "steps": 20, "carried": 0, "lost": 0, "backwards": 20}
SCHEDULE = {
    "class": "StepLR",
    "site": SITE,
    "calls": 60,
    "steps": 60,
    "end": 5,
    "batches": 10,
    "floor_at": None,
}


def examination(steps: int = 0) -> Any:
    return SimpleNamespace(rows=[{}] * steps, project=None, site=lambda place: f"train.py:{place['line']}")


def audit(**facts: Any) -> Ran:
    return Ran("as it ran, audited", "program", ({"loss": 1.0},), facts=facts)


@pytest.mark.parametrize(("carried", "is_seen"), [(19, True), (10, True), (2, False), (0, False)])
def test_gradients_count_as_kept_where_most_steps_hold_older_ones(carried: int, is_seen: bool) -> None:
    found = audit(gradients=[COURSE | {"carried": carried}])

    assert (missing_zero_grad.seen(found, examination()) is not None) is is_seen


@pytest.mark.parametrize(("lost", "is_seen"), [(20, True), (19, True), (10, False), (0, False)])
def test_gradients_count_as_lost_where_nearly_all_steps_have_none(lost: int, is_seen: bool) -> None:
    found = audit(gradients=[COURSE | {"lost": lost}])

    assert (zero_grad_before_step.seen(found, examination()) is not None) is is_seen


def test_a_look_at_a_few_gradients_is_no_training_without_steps() -> None:
    few, many = (audit(unstepped=[COURSE | {"steps": 0, "backwards": n}]) for n in (3, 30))

    assert optimizer_step_missing.seen(few, examination()) is None
    assert "took no step while 30 backward passes" in str(optimizer_step_missing.seen(many, examination()))


TURNS = """
def turn(first, second, one, other):
    first.zero_grad()
    one.backward()
    first.step()
    second.zero_grad()
    other.backward()
    first.step()
"""
FALLING = [3.0 - 0.1 * i for i in range(30)]


@pytest.mark.parametrize(
    ("before", "now", "is_confirmed"),
    [
        ([3.0] * 30, FALLING, True),
        ([3.0] * 30, [3.0] * 30, False),
        # What is below zero must fall too.
        ([-3.0] * 30, [-2.8] * 30, False),
        ([-3.0] * 30, [-3.0 - 0.1 * i for i in range(30)], True),
        # Another optimizer of that kind, with other losses.
        ([3.0] * 30, [9.0 - 0.1 * i for i in range(30)], False),
    ],
)
def test_the_step_of_another_optimizer_is_the_cause_where_the_idle_one_gains_by_it(
    before: list[float], now: list[float], is_confirmed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(TURNS)
    idle = COURSE | {"steps": 0, "losses": before, "backward": SITE}
    control = audit(unstepped=[idle], backward_losses=[1.0] * 60)
    changed = audit(gradients=[COURSE | {"losses": [50.0] * 30}, COURSE | {"losses": now}])
    asked: list[Any] = []
    lab = SimpleNamespace(horizon=lambda n: n, rewritten=lambda *a: asked.append(a[2]) or changed)
    looked_at = examination()
    looked_at.project, looked_at.lab = Project.of_script(str(tmp_path / "train.py")), lab
    monkeypatch.setattr(audits, "audit", lambda _: control)

    verdict = optimizer_step_missing.settle(Hypothesis(optimizer_step_missing.CAUSE, None, 0), looked_at)

    assert (verdict.status == "confirmed") is is_confirmed
    assert [s["text"] for s in asked[0]] == ["second.step()"]
    assert not is_confirmed or (verdict.site is not None and verdict.site.line == 8)


def test_losses_of_others_do_not_count_for_an_idle_optimizer(monkeypatch: pytest.MonkeyPatch) -> None:
    own = [3.0] * 30
    control = audit(
        unstepped=[COURSE | {"steps": 0, "losses": own, "backward": SITE}], backward_losses=[9.0, 3.0] * 30
    )
    looked_at = examination()

    def verdict(stepped: list[float]) -> str:
        one = audit(losses=[x for s in stepped for x in (9.0, s)], own=stepped)
        looked_at.lab = SimpleNamespace(
            horizon=lambda n: n, from_start=lambda arms, steps: {arms[0].name: one}
        )
        return optimizer_step_missing.settle(Hypothesis("", None, 0), looked_at).status

    monkeypatch.setattr(audits, "audit", lambda _: control)
    assert verdict(FALLING) == "confirmed"
    assert verdict(own) != "confirmed"


@pytest.mark.parametrize(
    ("change", "is_early"),
    [
        ({}, True),
        ({"end": None, "floor_at": 8}, True),
        ({"end": 60}, False),
        ({"end": None, "floor_at": 50}, False),
        ({"calls": 6}, False),
        ({"batches": None}, False),
    ],
)
def test_a_schedule_is_over_early_by_its_end_or_its_rate(change: dict[str, Any], is_early: bool) -> None:
    found = audit(schedules=[SCHEDULE | change])

    assert (schedules.per_batch(found, examination()) is not None) is is_early


@pytest.mark.parametrize(
    ("change", "is_late"),
    [
        ({"end": 60, "calls": 6}, True),
        ({"end": 6, "calls": 6}, False),
        ({"end": 60}, False),
        ({"end": None, "calls": 6}, False),
    ],
)
def test_a_schedule_is_late_where_it_was_made_for_the_steps(change: dict[str, Any], is_late: bool) -> None:
    found = audit(schedules=[SCHEDULE | change])

    assert (schedules.per_epoch(found, examination()) is not None) is is_late


@pytest.mark.parametrize(
    ("shape", "change", "is_late"),
    [
        ({"settled": 390, "words": ["step"]}, {}, True),
        ({"settled": 399, "words": ["k"]}, {}, True),
        ({"settled": 390, "words": ["k"]}, {}, False),
        ({"settled": 390, "words": ["epoch"]}, {}, False),
        ({"settled": 390, "words": ["epochs", "steps_per_epoch"]}, {}, True),
        ({"settled": 200, "words": ["step"]}, {}, False),
        ({"settled": 390, "words": []}, {}, False),
        ({"settled": 390, "words": ["step"]}, {"calls": 400}, False),
        ({"warm_up": 200, "words": ["step"]}, {}, True),
        ({"warm_up": 200, "words": ["k"]}, {}, False),
        ({"warm_up": 200, "words": ["step", "warmup_epochs"]}, {}, False),
        ({"warm_up": 200, "settled": 900, "words": ["step"]}, {}, False),
        ({"warm_up": 20, "words": ["step"]}, {}, False),
        ({"warm_up": 500, "words": ["step"]}, {}, False),
        ({"warm_up": 200, "words": ["step"]}, {"calls": 2, "batches": 200}, False),
        ({"warm_up": 200, "words": ["step"]}, {"end": 200}, True),
    ],
)
def test_a_factor_is_late_by_where_it_settles_or_by_a_warm_up_that_never_ends(
    shape: dict[str, Any], change: dict[str, Any], is_late: bool
) -> None:
    whole = {"warm_up": None, "settled": None, "top": 1.0, "peak": 1e-3} | shape
    one = {"class": "LambdaLR", "end": None, "calls": 10, "steps": 400, "batches": 40, "shape": whole}
    found = audit(schedules=[SCHEDULE | one | change])

    assert (schedules.per_epoch(found, examination()) is not None) is is_late


@pytest.mark.parametrize(
    ("given", "is_late"),
    [
        ("total_iters=num_warmup_steps", True),
        ("total_iters=warmup_epochs", False),
        ("total_iters=200", False),
    ],
)
def test_a_rise_is_late_where_the_program_says_that_it_counts_steps(
    given: str, is_late: bool, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(f"schedule = LinearLR(optimizer, 0.01, {given})\n")
    looked_at = examination()
    looked_at.project = Project.of_script(str(tmp_path / "train.py"))
    shape = {"warm_up": 200, "settled": None, "top": 1.0, "words": []}
    one = {"class": "LinearLR", "end": 200, "calls": 10, "steps": 400, "batches": 40, "shape": shape}

    assert (schedules.per_epoch(audit(schedules=[SCHEDULE | one]), looked_at) is not None) is is_late


@pytest.mark.parametrize(
    ("last", "steps", "is_left"), [(True, 40, True), (False, 40, False), (True, 2, False)]
)
def test_a_mode_is_left_where_the_training_ends_in_it(last: bool, steps: int, is_left: bool) -> None:
    modes = {"steps": 60, "trained": 20, "without_switch": 0, "kinds": ["Dropout"], "asked_to_train": True}
    found = audit(modes=modes | {"left": [{"site": SITE, "steps": steps}], "last": last})

    assert (eval_mode_in_training.seen(found, examination()) is not None) is is_left


@pytest.mark.parametrize(
    ("figures", "is_seen"), [([0.4, 0.0], True), ([1e-7, 0.0], False), ([0.4, 0.2], False)]
)
def test_an_evaluation_must_differ_by_dropout_alone(figures: list[float], is_seen: bool) -> None:
    one = {"kind": "module", "name": "Dropout", "function": "evaluate", "passes": 3, "site": SITE}
    found = audit(evaluations=[one | {"figures": [figures]}])

    assert (dropout_active_at_eval.seen(found, examination()) is not None) is is_seen


def test_what_is_left_out_is_told_apart_by_how_the_model_holds_it() -> None:
    part = {"name": "head.weight", "class": "Linear", "root": "Net", "container": None, "inside": None}
    plain, kept = (audit(missing=[part | x]) for x in ({}, {"inside": "Net"}))

    assert left_out.unregistered(kept)
    assert not left_out.unregistered(plain)
    assert not left_out.replaced(plain)
    assert left_out.replaced(audit(missing=[part], of_no_module=2))


def test_a_gain_is_more_than_noise_and_a_training_that_is_kept_is_one() -> None:
    def ran(losses: list[float], ended: str = "program") -> Ran:
        return Ran("arm", ended, tuple({"loss": x} for x in losses))

    falling, noisy = [1.0 - 0.01 * i for i in range(60)], [1.0 - 0.001 * (i % 3) for i in range(60)]

    assert gained(ran(falling), ran(noisy))
    assert not gained(ran(noisy), ran(noisy))
    assert gained(ran(falling), ran([1.0, 40.0, float("nan")], "not-finite"))
