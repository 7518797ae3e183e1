"""Which of the rivals is confirmed, from the figures of their arms alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.lab.counterfactual import CONTROL, Arm, Ran
from firstcause.record.folder import RunFolder
from firstcause.schema import Hypothesis, Run, Symptom
from firstcause.specialists import trajectories
from firstcause.specialists.debugging_techniques import exploding_gradient
from firstcause.specialists.examination import Examination
from firstcause.specialists.mixed_precision_and_optimization import (
    accumulation_not_divided,
    learning_rate_too_high,
)
from firstcause.specialists.trajectories import CLIPPED, DIVIDED, SLOWER, SLOWEST, STILL

FALLS = [2.3 - 0.02 * i for i in range(60)]
RUNS_AWAY = [2.3, 3.0, 9.0, 31.0, 57.0, *[300.0] * 55]
MODULES = (learning_rate_too_high, exploding_gradient, accumulation_not_divided)


class Bench:
    """A lab whose arms have run already."""

    def __init__(self, ran: dict[str, Ran]) -> None:
        self.ran = ran

    def from_start(self, arms: Any, steps: int, after: int = 0) -> dict[str, Ran]:
        return {a.name: self.ran[a.name] for a in arms}


def arm(name: str, losses: list[float], norms: list[float] | None = None, calls: int = 1, **more: Any) -> Ran:
    norms = norms or [2.0] * len(losses)
    pairs = zip(losses, norms, strict=True)
    rows = [
        {
            "loss": x,
            "last": x,
            "grad_norm": n,
            "calls": calls,
            "lines": 1,
            "lr": 0.1,
            "weights": 1.0,
            "update": 1.5,
        }
        for x, n in pairs
    ]
    return Ran(name, "steps", tuple(rows), **more)


def settled(tmp_path: Path, arms: list[Ran]) -> dict[str, Hypothesis]:
    run = Run("r", ("python", "train.py"), str(tmp_path), "", "3.11", "linux")
    ran = {STILL.name: arm(STILL.name, [2.3] * 60)} | {a.name: a for a in arms}
    examination = Examination(
        RunFolder(str(tmp_path)),
        run,
        Symptom("divergence", "it rose", step=2),
        None,
        Bench(ran),  # type: ignore[arg-type]
    )
    return {m.CAUSE: m.settle(Hypothesis(m.CAUSE, None, 0), examination) for m in MODULES}


def confirmed(result: dict[str, Hypothesis]) -> list[str]:
    return [slug for slug, h in result.items() if h.status == "confirmed"]


def test_only_a_smaller_rate_keeps_it(tmp_path: Path) -> None:
    result = settled(
        tmp_path,
        [
            arm(CONTROL.name, RUNS_AWAY),
            arm(SLOWER.name, FALLS),
            arm(SLOWEST.name, FALLS),
            arm(CLIPPED.name, RUNS_AWAY),
            arm(DIVIDED.name, RUNS_AWAY),
        ],
    )

    assert confirmed(result) == ["learning-rate-too-high"]
    (evidence,) = result["learning-rate-too-high"].evidence
    assert evidence.kind == "counterfactual"
    assert "learning rate / 10: largest loss 2.3" in evidence.text
    assert "as it ran: largest loss 300" in evidence.text


def test_clipping_keeps_it_and_one_gradient_stood_out(tmp_path: Path) -> None:
    losses = [2.3, 2.2, 2.2, 2.1, 2.1, 400.0, *[300.0] * 54]
    norms = [2.0, 2.1, 1.9, 2.0, 900.0, 50.0, *[40.0] * 54]
    result = settled(
        tmp_path,
        [
            arm(CONTROL.name, losses, norms),
            arm(SLOWER.name, FALLS),
            arm(SLOWEST.name, FALLS),
            arm(CLIPPED.name, FALLS),
            arm(DIVIDED.name, losses),
        ],
    )

    assert confirmed(result) == ["exploding-gradient"]
    assert "from 2 to 900" in result["exploding-gradient"].evidence[0].text


@pytest.mark.parametrize(("last", "told"), [(2.0, ["exploding-gradient"]), (250.0, [])])
def test_a_jump_of_its_own_is_no_matter_where_clipping_alone_comes_back(
    last: float, told: list[str], tmp_path: Path
) -> None:
    lost = [2.3, 2.2, 2.2, 2.1, 2.1, 4e6, float("nan")]
    norms = [2.0, 2.1, 1.9, 2.0, 900.0, 9e9, float("nan")]
    jumps = [2.3, 2.2, 2.2, 2.1, 2.1, *[900.0 - 80.0 * i for i in range(10)], *[last] * 45]
    result = settled(
        tmp_path,
        [
            arm(CONTROL.name, lost, norms),
            arm(SLOWER.name, lost),
            arm(SLOWEST.name, [*lost[:5], 3e6, *[2e6] * 54]),
            arm(CLIPPED.name, jumps),
            arm(DIVIDED.name, lost),
        ],
    )

    assert confirmed(result) == told


def test_averaging_keeps_it(tmp_path: Path) -> None:
    arms = [arm(CONTROL.name, RUNS_AWAY, calls=8)] + [
        arm(a.name, FALLS, calls=8) for a in (SLOWER, SLOWEST, CLIPPED, DIVIDED)
    ]

    assert confirmed(settled(tmp_path, arms)) == ["accumulation-not-divided"]


def test_losses_that_are_divided_already_are_left_open(tmp_path: Path) -> None:
    arms = [arm(CONTROL.name, RUNS_AWAY, calls=8, divided=True)] + [
        arm(a.name, FALLS, calls=8) for a in (SLOWER, SLOWEST, CLIPPED, DIVIDED)
    ]

    result = settled(tmp_path, arms)

    assert confirmed(result) == []
    assert "divided already" in result["accumulation-not-divided"].missing


@pytest.mark.parametrize(
    ("control", "missing"),
    [
        (arm(CONTROL.name, FALLS), "did not run away again"),
        (Ran(CONTROL.name, "lost", why="the budget in time was used up"), "the budget in time was used up"),
    ],
)
def test_what_cannot_be_reproduced_is_not_settled(control: Ran, missing: str, tmp_path: Path) -> None:
    arms = [control, *[arm(a.name, FALLS) for a in (SLOWER, SLOWEST, CLIPPED, DIVIDED)]]

    result = settled(tmp_path, arms)

    assert confirmed(result) == []
    assert all(missing in h.missing for h in result.values())


THROWN, DEAD = [0.7, 0.0, 400.0, 410.0, *[0.0] * 39], [0.5, 0.0, 1.0, 1.0, *[0.0] * 39]


def of_first_update(
    share: float, name: str, losses: list[float], norms: list[float], matrices: int = 5
) -> Ran:
    made = arm(name, losses, norms)
    first = made.rows[0] | {"update": share, "matrices": matrices}
    return Ran(name, "steps", (first, *made.rows[1:]))


def thrown(tmp_path: Path, matrices: int, last: Ran | None = None) -> dict[str, Hypothesis]:
    falls = [0.7 - 0.005 * i for i in range(43)]
    same = [
        of_first_update(1500.0 * factor, a.name, THROWN, DEAD, matrices)
        for a, factor in ((CONTROL, 1.0), (SLOWER, 0.1), (SLOWEST, 0.01), (CLIPPED, 1.0), (DIVIDED, 1.0))
    ]
    usual = Arm("learning rate times 7e-06")
    return settled(tmp_path, [*same, last or arm(usual.name, falls), arm(STILL.name, [0.7] * 43)])


def test_a_first_update_far_beyond_the_weights_is_compared_with_a_usual_one(tmp_path: Path) -> None:
    result = thrown(tmp_path, matrices=5)

    assert confirmed(result) == ["learning-rate-too-high"]
    text = result["learning-rate-too-high"].evidence[0].text
    assert "learning rate times 7e-06: largest loss 0.7" in text


def test_a_rate_that_could_not_be_tried_refutes_nothing(tmp_path: Path) -> None:
    usual = Arm("learning rate times 7e-06")
    lost = Ran(usual.name, "lost", why="the budget in time was used up")

    result = thrown(tmp_path, matrices=5, last=lost)[learning_rate_too_high.CAUSE]

    assert result.status == "inconclusive"
    assert "the budget in time was used up" in result.missing


def test_a_single_layer_may_be_of_any_size(tmp_path: Path) -> None:
    assert confirmed(thrown(tmp_path, matrices=1)) == []


def test_nothing_helps(tmp_path: Path) -> None:
    arms = [arm(a.name, RUNS_AWAY) for a in (CONTROL, SLOWER, SLOWEST, CLIPPED, DIVIDED)]

    result = settled(tmp_path, arms)

    assert {h.status for h in result.values()} == {"refuted"}


def test_a_smaller_rate_is_compared_with_the_same_batches_at_the_first_weights(tmp_path: Path) -> None:
    batches = [1.0, *[(2.0, 9.0, 8.0, 3.0, 2.5)[i % 5] for i in range(59)]]
    runs_away = [1.0, 40.0, 9e3, *[1e9] * 57]
    falls = [b * (1.0 - 0.01 * i) for i, b in enumerate(batches)]
    others = [arm(a.name, runs_away) for a in (CONTROL, SLOWER, CLIPPED, DIVIDED)]

    trained = settled(tmp_path, [*others, arm(SLOWEST.name, falls), arm(STILL.name, batches)])
    stood = settled(tmp_path, [*others, arm(SLOWEST.name, batches), arm(STILL.name, batches)])

    assert confirmed(trained) == ["learning-rate-too-high"]
    assert confirmed(stood) == []


@pytest.mark.parametrize(("workers", "is_same"), [(0, False), (2, True)])
def test_batches_that_workers_drew_need_not_be_the_same_again(workers: int, is_same: bool) -> None:
    recorded = [{"loss": x} for x in (1.07, 1.7e12, 5.0)]
    made = arm(CONTROL.name, [1.19, 2.1e12, 4.0])
    control = Ran(CONTROL.name, "steps", (made.rows[0] | {"workers": workers}, *made.rows[1:]))

    assert trajectories._same_start(recorded, control) is is_same
