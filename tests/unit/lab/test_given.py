"""What sets a failing step apart is what every failing one has and no other has."""

from __future__ import annotations

import pytest
import torch

from firstcause.lab.given.asked import set_apart
from firstcause.lab.given.properties import properties, tensors_of

OTHERS = [
    {"x: least value": 0.1 * n, "x: size of axis 0": 8.0, "y: largest value": 9.0 + n} for n in range(1, 7)
]


def names(*failing: dict[str, float]) -> list[str]:
    return [a.name for a in set_apart(failing, OTHERS)]


def test_a_number_outside_of_all_others_sets_apart() -> None:
    assert names({"x: least value": 0.0, "x: size of axis 0": 8.0, "y: largest value": 12.0}) == [
        "x: least value"
    ]
    assert names({"x: least value": 0.3, "x: size of axis 0": 3.0}) == ["x: size of axis 0"]


def test_what_one_failing_step_lacks_is_no_reason() -> None:
    one, other = (
        {"x: least value": 0.0, "y: largest value": 90.0},
        {"x: least value": -1.0, "y: largest value": 12.0},
    )
    assert names(one, other) == ["x: least value"]


@pytest.mark.parametrize("value", [0.1, 0.35, 0.099, 0.6])
def test_what_lies_among_the_others_or_a_hair_beyond_is_usual(value: float) -> None:
    assert names({"x: least value": value}) == []


def test_properties_of_nested_inputs() -> None:
    values = {
        "batch": {"ids": torch.tensor([[1, 2, 2], [0, 0, 0]]), "more": [torch.ones(2), "text"]},
        "lengths": [3, 5],
        "net": torch.nn.Linear(2, 2),
        "again": None,
    }
    tensors = tensors_of(values)
    assert set(tensors) == {"batch['ids']", "batch['more'][0]", "lengths"}
    found = properties(tensors)
    assert found["batch['ids']: different values"] == 3
    assert found["batch['ids']: most zeros in a row"] == 3
    assert found["batch['ids']: least sum of a row"] == 0
    assert found["lengths: largest value"] == 5


def test_values_that_are_not_finite_are_counted_and_left_out_of_the_range() -> None:
    found = properties(tensors_of({"x": torch.tensor([1.0, float("nan"), float("inf")])}))
    assert (found["x: values that are not finite"], found["x: largest value"]) == (2, 1.0)
