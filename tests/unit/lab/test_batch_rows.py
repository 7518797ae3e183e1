from __future__ import annotations

import sys
from typing import Any

import pytest
import torch

from firstcause.lab.batch_rows import batch_rows
from firstcause.lab.module_outputs import ModuleOutputs

BIRTH = {"output": {"shape": [6]}, "rows": 1, "first_rows": [4]}


def seen(birth: dict[str, Any]) -> list[dict[str, Any]]:
    x = torch.arange(12.0).reshape(6, 2)
    x[4, 1] = float("inf")
    labels = torch.arange(6)
    again, other, weight = x, torch.ones(5), torch.nn.Parameter(torch.ones(6))
    del again, other, weight
    assert len(x) == len(labels)
    return batch_rows(birth, [sys._getframe()])


def test_the_bad_row_stands_beside_the_others() -> None:
    x, labels = seen(BIRTH)
    assert (x["name"], x["shape"], x["dtype"]) == ("x", [6, 2], "float32")
    assert x["bad"] == [{"row": 4, "not_finite": 1, "min": 8.0, "max": 8.0, "values": [8.0, "inf"]}]
    assert x["others"] == {"min": 0.0, "max": 11.0}
    assert (labels["name"], labels["bad"][0]["values"], labels["others"]) == (
        "labels",
        [4.0],
        {"min": 0.0, "max": 5.0},
    )


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 6},
        {"first_rows": []},
        {"output": {"shape": []}},
        {"output": None},
        {"output": {"shape": [7]}},
    ],
    ids=["all", "none", "number", "unknown", "another-size"],
)
def test_what_is_no_row_of_a_batch_is_not_told(change: dict[str, Any]) -> None:
    assert seen(BIRTH | change) == []


def test_the_last_result_of_a_module_is_what_it_gave_out() -> None:
    outputs = ModuleOutputs()
    outputs.made("net.0", [torch.ones(2)])
    outputs.made("net.0", [torch.tensor([0.0, 3.0])])
    outputs.made("net", [torch.ones(4)])
    outputs.made(None, [torch.ones(9)])
    outputs.made("ids", [torch.arange(3)])
    outputs.close()
    assert list(outputs.found) == ["net.0", "net"]
    assert (outputs.found["net.0"]["max"], outputs.found["net.0"]["zeros"]) == (3.0, 1)
