"""Which of the rivals is confirmed, from the figures of their arms alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.lab.counterfactual import CONTROL, Ran
from firstcause.record.folder import RunFolder
from firstcause.schema import Hypothesis, Run, Symptom
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
