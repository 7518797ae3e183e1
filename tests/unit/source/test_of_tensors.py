"""Loops over single numbers written for whole tensors: run beside one another, they leave the same values."""

from __future__ import annotations

import ast
import math
from typing import Any

import pytest
import torch

from firstcause.source.vectorised import together

VALUES = {
    "cut off": "max(min(float(x[i, j]), 1.0), -1.0)",
    "cut off, the other way round": "min(0.5, max(-0.5, x[i, j].item()))",
    "the larger of two": "max(float(x[i, j]), float(z[i, j]))",
    "of math": "math.exp(x[i, j]) + math.sqrt(abs(z[i, j]))",
    "one or the other": "x[i, j] if x[i, j] > z[i, j] else 0.1 * z[i, j]",
    "in between": "x[i, j] if -0.5 < x[i, j] < 0.5 and not z[i, j] > 1 else -x[i, j]",
    "or": "1.0 if x[i, j] > 1 or z[i, j] > 1 else 0.0",
    "a number for each": "float(x[i, j]) * float(3)",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_the_same_values_come_out(value: str) -> None:
    loop = f"for i in range(x.shape[0]):\n    for j in range(x.shape[1]):\n        y[i, j] = {value}"
    made = together(ast.parse(loop).body[0])
    assert made is not None
    assert "torch.vmap" in made
    generator = torch.Generator().manual_seed(0)
    x, z = (torch.randn(5, 7, generator=generator) for _ in range(2))
    results = []
    for text in (loop, made):
        space: dict[str, Any] = {"x": x, "z": z, "y": torch.zeros(5, 7), "torch": torch, "math": math}
        exec(text, space)
        results.append(space["y"])
    assert torch.allclose(*results)


def test_what_is_no_number_of_a_tensor_stays() -> None:
    loop = "for i in range(len(x)):\n    y[i] = max(x[i], key=abs) + max(1, 2) + float('1.5')"
    made = together(ast.parse(loop).body[0])
    assert made is not None
    assert "max(x_i, key=abs) + max(1, 2) + float('1.5')" in made
