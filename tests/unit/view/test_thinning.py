from __future__ import annotations

import math
from array import array

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.view.heat import ROWS, grouped, heat
from firstcause.view.thinning import Thinned

FIGURES = st.floats(width=32, allow_nan=True, allow_infinity=True)


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(FIGURES, FIGURES), min_size=1, max_size=200), st.sampled_from([2, 4, 16]))
def test_buckets_hold_the_extremes_of_their_rows(rows: list[tuple[float, float]], limit: int) -> None:
    thinned = Thinned(("a", "b"), limit)
    for step, values in enumerate(rows):
        thinned.add(step, array("f", values).tobytes())
    steps, low, high, bad = thinned.buckets()
    assert len(steps) <= limit + 1
    assert steps == list(range(0, len(rows), thinned.width))
    for at, first in enumerate(steps):
        for column in (0, 1):
            seen = [float(np.float32(r[column])) for r in rows[first : first + thinned.width]]
            finite = [v for v in seen if math.isfinite(v)]
            assert bad[at, column] == (len(finite) < len(seen))
            if finite:
                assert (low[at, column], high[at, column]) == (min(finite), max(finite))
            else:
                assert np.isnan(low[at, column])
                assert np.isnan(high[at, column])


def test_a_spike_of_one_step_stays_visible_and_memory_does_not_grow() -> None:
    thinned = Thinned(("loss",), 64)
    for step in range(20_000):
        thinned.add(step, array("f", [99.0 if step == 12_345 else 1.0]).tobytes())
    steps, _, high, _ = thinned.buckets()
    assert len(steps) <= 65
    assert thinned.width == 512
    at = int(high[:, 0].argmax())
    assert high[at, 0] == 99.0
    assert steps[at] <= 12_345 < steps[at] + 512
    assert (high[:, 0] == 99.0).sum() == 1


def test_parameters_are_joined_by_module_as_deep_as_rows_allow() -> None:
    names = [f"model.layers.{n // 6}.part.{n % 6}" for n in range(200)]
    groups = grouped(names)
    assert [label for label, _ in groups[:2]] == ["model.layers.0.part", "model.layers.1.part"]
    assert len(groups) == 34 <= ROWS
    assert sorted(n for _, members in groups for n in members) == list(range(200))
    stack = grouped([f"model.layers.{n // 8}.part.{n % 8}" for n in range(400)])
    assert len(stack) == 25
    assert stack[0] == ("model.layers.0 … model.layers.1", list(range(16)))
    flat = grouped([f"p{n}" for n in range(200)])
    assert len(flat) <= ROWS
    assert flat[0][0] == "p0 … p4"


def test_the_norm_of_a_group_is_the_root_of_the_squares() -> None:
    high = np.array([[3.0, 4.0], [np.nan, 1.0]], np.float32)
    bad = np.array([[False, False], [True, False]])
    shown = heat(["a.x", "a.y"], [0, 8], high, bad)
    assert [r["values"] for r in shown["rows"]] == [[3.0, 0.0], [4.0, 1.0]]
    assert [r["bad"] for r in shown["rows"]] == [[1], []]
    many = heat(
        [f"a.{n}" for n in range(ROWS + 1)], [0], np.full((1, ROWS + 1), 2.0), np.zeros((1, ROWS + 1), bool)
    )
    assert many["rows"][0] == {"name": "a.0 … a.1", "parameters": 2, "values": [2.8284], "bad": []}
    assert sum(row["parameters"] for row in many["rows"]) == ROWS + 1
