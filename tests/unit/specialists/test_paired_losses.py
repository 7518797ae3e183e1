"""Series of two arms compared step by step: the batch's noise is in both, the gain is not."""

from __future__ import annotations

import random

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.specialists.losses import further, steadily_further, steadily_lower


def ran(name: str, losses: list[float], ended: str = "steps") -> Ran:
    return Ran(name, ended, tuple({"loss": x} for x in losses))


@pytest.fixture
def noisy() -> list[float]:
    generator = random.Random(3)
    return [1.0 + 0.3 * generator.random() for _ in range(60)]


def test_a_gain_below_the_noise_of_batches_is_seen_where_the_batches_are_the_same(noisy: list[float]) -> None:
    lower = [x - 0.001 * i for i, x in enumerate(noisy)]

    assert not further(ran("changed", lower), ran("control", noisy))
    assert steadily_further(ran("changed", lower), ran("control", noisy))


def test_the_same_gain_on_other_batches_counts_for_nothing(noisy: list[float]) -> None:
    lower = [noisy[0] * 1.2, *(x - 0.001 * i for i, x in enumerate(noisy))]

    assert not steadily_lower(lower, noisy)


@pytest.mark.parametrize("factor", [1.0, 0.99])
def test_no_gain_and_one_below_two_percent_count_for_nothing(noisy: list[float], factor: float) -> None:
    assert not steadily_lower([noisy[0], *(factor * x for x in noisy[1:])], noisy)


def test_a_gain_that_comes_and_goes_is_noise(noisy: list[float]) -> None:
    turning = [noisy[0], *(x - (0.5 if i % 2 else -0.45) for i, x in enumerate(noisy[1:]))]

    assert not steadily_lower(turning, noisy)


def test_an_arm_that_failed_has_not_come_further(noisy: list[float]) -> None:
    lower = [x - 0.01 * i for i, x in enumerate(noisy)]

    assert not steadily_further(ran("changed", lower, "exception"), ran("control", noisy))
