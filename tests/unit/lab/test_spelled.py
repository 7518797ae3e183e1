"""What names a value: an expression that can only read, with or without a place."""

from __future__ import annotations

import pytest

from firstcause.errors import InputError
from firstcause.lab.expression.spelled import Spelled, spelled


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("loss", Spelled("loss", "loss")),
        (" self.layers[-1].weight ", Spelled("self.layers[-1].weight", "self")),
        ("batch['x'][:2, 0]", Spelled("batch['x'][:2, 0]", "batch")),
        ("src/train.py:12:x", Spelled("x", "x", "src/train.py", 12)),
        ("train.py:3:rows[1:2]", Spelled("rows[1:2]", "rows", "train.py", 3)),
    ],
)
def test_reads(words: str, meant: Spelled) -> None:
    assert spelled(words) == meant


@pytest.mark.parametrize(
    "words", ["f()", "x + 1", "(y := 2)", "x[f()]", "'text'", "1", "x =", "lambda: x", ""]
)
def test_refuses_what_could_do_more_than_read(words: str) -> None:
    with pytest.raises(InputError) as refused:
        spelled(words)
    assert refused.value.slug == "trace-expression"
