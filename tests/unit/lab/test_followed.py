"""Followed commands, compared: what a resume lacks, and where two runs part, on rows as the follower writes them."""

from __future__ import annotations

from typing import Any

import pytest

from firstcause.lab.follow import resumed, unequal
from firstcause.lab.follow.asked import Followed

STEPS = 8


def run(first: int = 0, steps: int = STEPS, **changed: Any) -> Followed:
    rows = [
        {
            "params": f"p{n}",
            "buffers": "",
            "lr": [0.1],
            "optimizer": f"o{n}",
            "scheduler StepLR": f"s{n}",
            "counter Run.step": n,
            "average ema": f"e{n}",
            "generators": {"torch": f"t{n}", "numpy": "n"},
            "batch": f"b{n}",
            "gradients": f"g{n}",
        }
        for n in range(first, first + steps)
    ]
    for key, value in changed.items():
        rows[0][key.replace("_", " ")] = value
    return Followed(tuple(rows), (2, 4, 6))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"optimizer": ""}, "optimizer-state-not-restored"),
        ({"scheduler_StepLR": "s0"}, "scheduler-state-not-restored"),
        ({"average_ema": "e0"}, "ema-state-not-restored"),
        ({"counter_Run.step": 0}, "step-counter-not-restored"),
        ({"batch": "b0"}, "step-counter-not-restored"),
        ({"generators": {"torch": "t0", "numpy": "n"}, "gradients": "x"}, "rng-state-not-restored"),
    ],
)
def test_each_part_that_is_not_restored_is_named(change: dict[str, Any], cause: str) -> None:
    found = resumed.compare(run(), run(4, 4, **change), 4, control=True)
    assert {m.cause for m in found.missing} == {cause}


def test_a_complete_resume_lacks_nothing() -> None:
    found = resumed.compare(run(), run(4, 4), 4, control=True)
    assert (found.missing, found.equal, found.compared) == ((), 4, 4)


def test_generators_that_change_nothing_are_not_named() -> None:
    found = resumed.compare(run(), run(4, 4, generators={"torch": "t0", "numpy": "n"}), 4, control=True)
    assert found.missing == ()


def test_batches_of_another_place_are_a_position_whatever_the_loader_has_drawn() -> None:
    rows = run(4, 4).rows
    again = [
        {**row, "batch": f"b{n}", "generators": {"torch": f"u{n}", "numpy": "n"}, "gradients": f"x{n}"}
        for n, row in enumerate(rows)
    ]
    found = resumed.compare(run(), Followed(tuple(again), ()), 4, control=True)
    assert [m.kind for m in found.missing] == ["position"]
    mixed = [{**row, "batch": f"z{n}"} for n, row in enumerate(again)]
    found = resumed.compare(run(), Followed(tuple(mixed), ()), 4, control=True)
    assert [m.kind for m in found.missing] == ["generators"]


def test_a_run_that_begins_anew_has_loaded_nothing() -> None:
    assert "loaded nothing" in resumed.compare(run(), run(), 4, control=True).why


def test_two_runs_part_at_the_first_row_that_differs() -> None:
    assert unequal.parted(run(), run()) is None
    assert unequal.parted(run(), run(batch="x")) == (0, "batch")
    assert unequal.parted(run(), run(steps=5)) == (5, "number of steps")


def test_memory_that_nothing_was_written_to_is_no_first_op() -> None:
    site = {"file": "train.py", "line": 3, "text": "x = f(y)"}
    ops = [["empty", site, "m1", ""], ["detach", site, "m2", "m1"], ["uniform_", site, "u", "k"]]
    other = [["empty", site, "n1", ""], ["detach", site, "n2", "n1"], ["uniform_", site, "v", "k"]]
    first = unequal.first_op(Followed((), (), tuple(ops)), Followed((), (), tuple(other)))
    assert first is not None
    assert first[0] == "uniform_"
