"""What may be written of an exception and of a replay where no value of the user's data may be."""

from __future__ import annotations

from typing import Any

import pytest

from firstcause.record.observe import privacy

CALL = [{"file": "/home/u/train.py", "line": 3, "function": "f", "text": "y = model(x)"}]
RAISE = [{"file": "/home/u/train.py", "line": 3, "function": "f", "text": "raise RuntimeError(f'bad {row}')"}]
LIBRARY = [
    {
        "file": "/v/site-packages/torch/nn/functional.py",
        "line": 3,
        "function": "f",
        "text": "raise ValueError(x)",
    }
]
SHAPES = "mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)"


@pytest.mark.parametrize(
    ("kind", "text", "frames", "kept"),
    [
        ("RuntimeError", SHAPES, CALL, SHAPES),
        ("RuntimeError", "bad Jane Doe", RAISE, privacy.WITHHELD),
        ("KeyError", "'Jane Doe'", CALL, privacy.WITHHELD),
        ("ValueError", "could not convert string to float: 'Jane'", CALL, privacy.WITHHELD),
        ("ValueError", "Expected input batch_size (4)", LIBRARY, privacy.WITHHELD),
        ("RuntimeError", SHAPES, LIBRARY, SHAPES),
        ("IndexError", "index out of range in self 512", CALL, "index out of range in self #"),
        ("IndexError", "Target 10 is out of bounds.", CALL, "Target # is out of bounds."),
        ("RuntimeError", "index -7 is out of bounds for dimension 0 with size 5", CALL, "index # is out of bounds for dimension # with size #"),
        ("PatientError", "Jane", CALL, privacy.WITHHELD),
        ("RuntimeError", "no frames", [], privacy.WITHHELD),
    ],
)  # fmt: skip
def test_messages(kind: str, text: str, frames: list[dict[str, Any]], kept: str) -> None:
    assert privacy.message(kind, text, frames) == kept


def test_a_replay_keeps_the_op_and_the_line() -> None:
    site = {"file": "train.py", "line": 7, "function": "f", "text": "x.log()"}
    mask = {"kind": "inf", "op": "where", "constant": True, "site": site, "operands_at": [3.25]}
    born = mask | {"op": "log", "constant": False}
    facts = {
        "status": "replayed",
        "exact": True,
        "why": "",
        "gradients": 2,
        "equal": 2,
        "inputs": [{"min": 3.25}],
    }
    kept = privacy.replayed(facts | {"trace": {"births": [mask, born]}, "text": "3.25"})
    assert kept == {
        "status": "withheld",
        "exact": True,
        "seen": "its first value that is not finite is inf, made by log",
        "site": site,
        "why": privacy.WHY,
        "gradients": 2,
        "equal": 2,
    }


def test_a_refused_replay_keeps_its_reason() -> None:
    kept = privacy.replayed({"status": "refused", "exact": False, "why": "not replayable past line 3"})
    assert (kept["why"], kept["seen"], kept["site"]) == ("not replayable past line 3", "", None)


def test_of_a_call_shapes_stay() -> None:
    inputs = [{"name": "0", "shape": [2], "dtype": "float32", "min": 3.25, "max": 4.5, "not_finite": 0}]
    kept = privacy.failure({"kind": "nan", "call": {"number": 1, "inputs": inputs}})
    assert kept["call"]["inputs"] == [{"name": "0", "shape": [2], "dtype": "float32"}]
