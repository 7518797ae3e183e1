"""Calls for one row after the other, written as one call for all rows, give the same; other forms are left alone."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import torch

from firstcause.source.batched import batched

ROWS = [
    "out = torch.stack([net(x) for x in xs])",
    "out = torch.cat([net(x[None]) for x in xs])",
    "out = torch.cat([net(x.unsqueeze(0)) for x in xs])",
    "out = torch.stack([net(xs[i]) for i in range(len(xs))])",
    "out = torch.cat([net(xs[i : i + 1]) for i in range(len(xs))]).tanh()",
    "out = []\nfor x in xs:\n    out.append(net(x))",
]
OTHER = [
    "out = torch.cat([net(x) for x in xs])",
    "out = torch.stack([net(x[None]) for x in xs])",
    "out = torch.stack([net(x) for x in xs], 1)",
    "out = torch.stack([net(x) for x in xs if x.any()])",
    "out = torch.stack([net(x, y) for x, y in zip(xs, ys)])",
    "out = torch.stack([net(x) for x in read(path)])",
    "out = [net(x) for x in xs]",
    "for x in xs:\n    y = x * 2\n    out.append(net(y))",
]


def run(text: str) -> torch.Tensor:
    torch.manual_seed(0)
    names: dict[str, Any] = {"torch": torch, "net": torch.nn.Linear(3, 2), "xs": torch.randn(5, 3)}
    exec(text, names)
    out = names["out"]
    return torch.stack(out) if isinstance(out, list) else out


@pytest.mark.parametrize("text", ROWS)
def test_one_call_gives_the_same(text: str) -> None:
    tree = ast.parse(text)
    made = batched(tree.body[-1])
    assert made is not None
    assert "for" not in made
    before = [ast.unparse(s) for s in tree.body[:-1]]
    assert torch.allclose(run("\n".join([*before, made])), run(text))


@pytest.mark.parametrize("text", OTHER)
def test_other_forms_are_left_alone(text: str) -> None:
    assert batched(ast.parse(text).body[0]) is None
