"""Any text gives an answer, in a time that grows with its length."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.check.brief import Text, read

WORDS = [
    "lr",
    "batch",
    "size",
    "8",
    "1e-4",
    "epochs",
    "not",
    "no",
    "instead",
    "of",
    "->",
    "from",
    "to",
    "user:",
    "assistant:",
    "yes",
    "\n",
    "-",
    "(",
    ")",
    ",",
    ".",
    "?",
    ";",
    "every",
    "steps",
    "save",
    "warmup",
    "%",
    "k",
    "x4",
    "A100",
    "80GB",
    "rank",
    "alpha",
    "/",
    "=",
    "0..5",
    "labels",
    "`a`",
    '"',
    "'",
    "./out/",
    "org/name",
    "bert-base-uncased",
    "1e999",
    "İ",
    "⁻⁵",
    "\u00d7",
    "fp16",
    "LoRA",
    "or",
    "and",
    "but",
    "sorry",
    "make",
    "it",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_whatever_is_typed_is_answered(text: str) -> None:
    for instruction in read([Text(text)]):
        json.dumps(instruction.value, allow_nan=False)
        assert instruction.sentence


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_whatever_there_is_in_unicode(text: str) -> None:
    assert read([Text(text)]) == read([Text(text)])


@pytest.mark.parametrize("text", ["lr 1 over 0000", "lr 1/000", "5 epochs. " + "Double the epochs. " * 1100])
def test_no_number_is_divided_by_zero_or_grows_without_end(text: str) -> None:
    assert all(0 < i.value <= 1e15 for i in read([Text(text)]))


@pytest.mark.parametrize(
    "piece",
    [
        "lr 1e-4 ",
        "a/",
        "a.",
        "123 ",
        " 000",
        '"a ',
        "(",
        "llama-",
        "bert-a-",
        "not ",
        "no adam, ",
        "```\n",
        "[",
        "9",
        "user: lr 1e-4\n",
        "From: a\nlr 1e-4\n",
        "every epoch save ",
    ],
)
def test_time_grows_with_length(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    begin = time.process_time()
    read([Text(text)])
    assert time.process_time() - begin < 3
