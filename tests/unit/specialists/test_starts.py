"""Which cause the first steps of a training speak for, and that a healthy start speaks for none."""

from __future__ import annotations

from typing import Any

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.specialists import starts


def unit(**other: Any) -> dict[str, Any]:
    plain = {
        "kind": "relu",
        "units": 32,
        "dead_first": 0.1,
        "dead": 0.0,
        "beyond": 0.0,
        "size": 0.5,
        "hidden": True,
        "number": 0,
    }
    return plain | other


def weight(**other: Any) -> dict[str, Any]:
    plain = {
        "name": "fc.weight",
        "rows": 32,
        "ratio": 1.0,
        "gain": 0.6,
        "alike": False,
        "still_alike": False,
        "gradient": 0.1,
    }
    return plain | other


def ran(units: list[dict[str, Any]], weights: list[dict[str, Any]]) -> Ran:
    return Ran("as it ran", "program", facts={"units": units, "weights": weights})


FALLING = [weight(gradient=0.1 * 0.05**n) for n in (5, 4, 3, 2, 1, 0)]


@pytest.mark.parametrize(
    ("units", "weights", "cause"),
    [
        ([unit(dead_first=1.0, dead=0.9)], [weight()], starts.DEAD),
        ([unit(kind="tanh", beyond=0.9)], [weight(), weight()], starts.SATURATED),
        ([unit(kind="tanh")], [weight(alike=True, still_alike=True), weight()], starts.INITIAL),
        ([unit()], [weight(ratio=0.01, gain=0.01), weight()], starts.INITIAL),
        ([unit()], [weight(bias=30.0), weight()], starts.INITIAL),
        ([unit(kind="sigmoid")] * 5, FALLING, starts.VANISHING),
    ],
)
def test_the_cause_that_the_first_steps_speak_for(
    units: list[dict[str, Any]], weights: list[dict[str, Any]], cause: str
) -> None:
    found = starts.shown(ran(units, weights))

    assert found is not None
    assert found[0] == cause
    others = {starts.DEAD, starts.SATURATED, starts.INITIAL, starts.VANISHING} - {cause}
    assert starts.Start(cause).seen(ran(units, weights), None) == found[2]
    assert [c for c in others if starts.Start(c).seen(ran(units, weights), None)] == []


@pytest.mark.parametrize(
    ("units", "weights"),
    [
        # Half of the units of a rectifier are silent on one batch, and speak on the next.
        ([unit(dead_first=0.6, dead=0.1)], [weight()]),
        # The probability that a classifier gives is at its bound on purpose.
        ([unit(kind="sigmoid", beyond=0.9, hidden=False)], [weight()]),
        # A last layer of zeros, and a zero that learns to differ.
        ([unit()], [weight(), weight(alike=True, still_alike=True)]),
        ([unit()], [weight(alike=True), weight()]),
        # Kaiming's values for a rectifier, and a layer that is small for another's sake.
        ([unit()], [weight(ratio=2.45, gain=1.4)]),
        ([unit()], [weight(ratio=0.1, gain=0.5)]),
        # Rectifiers alone do not make gradients vanish so.
        ([unit()] * 5, FALLING),
    ],
)
def test_a_start_that_is_meant_speaks_for_none(
    units: list[dict[str, Any]], weights: list[dict[str, Any]]
) -> None:
    assert starts.shown(ran(units, weights)) is None
