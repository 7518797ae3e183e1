"""Loops that take tensors apart are written over lists of numbers; other loops are left as they are."""

from __future__ import annotations

import ast

import pytest
import torch

from firstcause.source.iterated import iterated


def rewritten(text: str) -> str | None:
    (loop,) = ast.parse(text).body
    assert isinstance(loop, ast.For)
    made = iterated(loop)
    return None if made is None else "\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in made)


def test_counts_of_a_loop_over_two_tensors_stay_the_same() -> None:
    text = "for p, t in zip(a.flatten(), b.flatten()):\n    c[t, p] += 1"
    plain = rewritten(text)
    assert plain is not None
    assert plain.startswith("for p, t in zip(a.flatten().tolist(), b.flatten().tolist()):")
    a, b = torch.tensor([[0, 1], [2, 1]]), torch.tensor([[0, 2], [2, 1]])
    counts = [torch.zeros(3, 3, dtype=torch.long) for _ in range(2)]
    exec(text, {"a": a, "b": b, "c": counts[0]})
    exec(plain, {"a": a, "b": b, "c": counts[1]})
    assert counts[0].sum() == 4
    assert torch.equal(*counts)


def test_item_of_what_is_a_number_by_then_is_left_out() -> None:
    assert rewritten("for i, x in enumerate(self.scores):\n    total += x.item() * w.item()") == (
        "for i, x in enumerate(self.scores.tolist()):\n    total += x * w.item()"
    )


@pytest.mark.parametrize("over", ["range(3)", "loader()", "[1, 2]", "sorted(x)", "zip(*x)", "(y for y in x)"])
def test_what_is_no_value_is_left_as_it_is(over: str) -> None:
    assert rewritten(f"for x in {over}:\n    pass") is None
