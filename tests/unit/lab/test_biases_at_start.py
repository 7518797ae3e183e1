"""A bias that decides alone what a layer gives, beside torch's own bias at inputs that are all alike."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from firstcause.lab.audit import Call
from firstcause.lab.audit.units_at_start import _share_of_bias

LAYERS: list[tuple[str, Any, tuple[int, ...]]] = [
    ("linear", lambda: nn.Linear(16, 16), (32, 16)),
    ("conv2d", lambda: nn.Conv2d(3, 8, 3), (4, 3, 8, 8)),
]


def share(name: str, layer: Any, x: torch.Tensor) -> float:
    call = Call(name, None, (x, layer.weight, layer.bias), {}, None)
    return _share_of_bias(call, layer(x).detach())


@pytest.mark.parametrize(("name", "make", "shape"), LAYERS)
def test_only_a_bias_far_from_torchs_own_counts(name: str, make: Any, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    layer = make()
    x = torch.randn(shape)
    assert share(name, layer, x) == 0
    nn.init.constant_(layer.bias, -12.0)
    assert share(name, layer, x) > 10


def test_inputs_that_are_all_alike_blame_no_bias_of_torch() -> None:
    assert share("linear", nn.Linear(16, 16), torch.ones(32, 16)) == 0
