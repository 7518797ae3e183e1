"""What of growing memory is a cause though its bytes are few: a value whose own graph gets longer with every step."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.specialists.growth import growth


def grown(nodes: list[int], shape: tuple[int, ...] = (256,), **other: Any) -> Ran:
    samples = [
        {"step": 4 * i, "nodes": n, "bytes": 1_000_000, "resident": 300_000_000 + 1000 * i}
        for i, n in enumerate(nodes)
    ]
    seen = {"kind": "graph", "single": True, "shape": shape, "samples": samples, "expression": "self.mean"}
    return Ran("audit", "program", facts={"growth": seen | other})


STEADY = list(accumulate([100, *[40] * 9]))


def test_a_state_whose_graph_gets_longer_is_a_cause_at_any_size() -> None:
    assert growth(grown(STEADY))["expression"] == "self.mean"


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(grown(STEADY, single=False), id="a log of losses"),
        pytest.param(grown(STEADY, shape=()), id="a running total"),
        pytest.param(grown(STEADY, kind="host"), id="numbers"),
        pytest.param(grown([*STEADY[:5], 110, *STEADY[:5]]), id="begun anew"),
        pytest.param(grown(STEADY[:4]), id="too few looks"),
    ],
)
def test_what_is_small_and_may_be_meant_is_none(found: Ran) -> None:
    assert growth(found) == {}
