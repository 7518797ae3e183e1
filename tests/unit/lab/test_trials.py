"""Calls made again with one thing changed: which changes let a refused call pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from firstcause.lab.calls import Calls
from firstcause.lab.refused_call import describe

F = torch.nn.functional


def refused(step: Callable[[], Any], **names: torch.Tensor) -> dict[str, Any]:
    calls = Calls(lambda t: {"parameter": "w"} if t.requires_grad else {"other": True}, lambda: None, list)
    error: Exception | None = None
    with calls:
        try:
            step()
        except Exception as raised:  # noqa: BLE001 - any refusal will do
            error = raised
    assert error is not None
    return describe(calls, error)


def passing(call: dict[str, Any]) -> list[tuple[Any, ...]]:
    keys = ("change", "call", "operand", "axis", "to")
    return [tuple(t[k] for k in keys if k in t) for t in call["trials"] if t["passes"]]


def test_an_earlier_square_is_found_through_the_calls_after_it() -> None:
    weight = torch.zeros(2, 9, requires_grad=True)

    def step() -> None:
        gate, strength = torch.ones(8), torch.ones(8, 1)
        F.linear(torch.cat([torch.ones(8, 8), torch.tanh(gate * strength)], dim=1), weight)

    call = refused(step)
    assert call["function"] == "linear"
    assert "mat1 and mat2" in call["error"]
    assert [p[0] for p in passing(call)] == ["align"]
    (way,) = [t for t in call["trials"] if t["passes"]]
    assert (way["operand"], way["shape"], way["other"]) == (0, [8], [8, 1])


def test_a_meant_outer_difference_is_no_way_out() -> None:
    weight = torch.zeros(2, 5, requires_grad=True)

    def step() -> None:
        x = torch.ones(4, 6)
        F.linear((x[:, :, None] - x[:, None, :]).flatten(1), weight)

    call = refused(step)
    assert [t["change"] for t in call["trials"] if t["change"] == "align"] == ["align", "align"]
    assert not passing(call)


def test_the_axis_that_grows_with_the_samples_is_told_behind_a_recurrent_layer() -> None:
    gru = torch.nn.GRU(3, 4, batch_first=True)
    x, labels = torch.zeros(1, 5, 3), torch.zeros(1, dtype=torch.long)
    call = refused(lambda: F.cross_entropy(gru(x)[1].squeeze()[:2], labels, label_smoothing=0.1))
    found = [t for t in call["trials"] if t["change"] == "squeeze"]
    assert [(t["axis"], t["batch_axis"]) for t in found] == [(0, 1), (1, 1)]


def test_a_backward_pass_is_made_again_with_its_graph() -> None:
    layer = torch.nn.Linear(3, 2)
    x, label = torch.zeros(1, 3, 1, 1), torch.zeros(1, dtype=torch.long)
    call = refused(lambda: F.cross_entropy(layer(x.squeeze()), label).backward())
    assert call["function"] == "backward"
    assert "size mismatch" in call["error"]
    assert [p[0] for p in passing(call)] == ["squeeze", "batch"]


def test_labels_as_floats_pass_as_whole_numbers_alone() -> None:
    scores, labels = torch.zeros(4, 3), torch.zeros(4)
    call = refused(lambda: F.cross_entropy(scores, labels))
    assert passing(call) == [("dtype", 1, "int64")]
    assert call["operands"][1]["role"] == "target"


def test_numpy_is_asked_by_the_shape_that_its_message_names() -> None:
    priority = np.zeros(6)

    def step() -> None:
        td = torch.ones(6) - torch.ones(6, 1)
        errors = np.abs(td.numpy()) + 1.0
        priority[np.arange(6)] = errors

    call = refused(step)
    assert call["function"] is None
    assert call["type"] == "ValueError"
    (way,) = [t for t in call["trials"] if t["passes"]]
    assert (way["change"], way["shape"], way["other"]) == ("align", [6, 1], [6])


def test_an_array_of_the_wrong_length_has_no_way_out() -> None:
    priority = np.zeros(7)

    def step() -> None:
        priority[:] = (torch.ones(6) - torch.ones(6)).numpy()

    assert not passing(refused(step))


def test_arrays_that_become_tensors_are_calls_of_the_step() -> None:
    weight = torch.zeros(2, 3, requires_grad=True)
    call = refused(lambda: F.linear(torch.from_numpy(np.zeros((4, 3))) * 2, weight))
    assert passing(call) == [("dtype", 0, "float32"), ("all-double",)]
    made = [c for c in call["calls"].values() if c["function"] == "from_numpy"]
    assert made[0]["dtype"] == "float64"
    assert made[0]["inputs"][0]["array"]
    assert torch.from_numpy(np.zeros(1)).shape == (1,)
