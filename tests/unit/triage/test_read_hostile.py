"""Bytes that nobody meant well: no crash, no quadratic time, no control codes in what is told."""

from __future__ import annotations

import io
import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.catalog.patterns import load_patterns
from firstcause.errors import InputError
from firstcause.schema import to_plain
from firstcause.triage.read import read
from firstcause.triage.reading import Reading

PIECES = [
    b"Traceback (most recent call last):\n",
    b'  File "a.py", line 3, in f\n',
    b"    x = y\n",
    b"RuntimeError: CUDA out of memory. Tried to allocate ",
    b"\x1b[31m",
    b"[rank3]: ",
    b"2025-01-01 00:00:00 ",
    b"\r",
    b"\0",
    b"\xed\xa0\x80",
    b"\xff\xfe",
    b'{"log": "\\ud800 x", "rank": 3}\n',
    b"```\n",
    b"> ",
    b"Assertion `x` failed.\n",
    b"During handling of the above exception, another exception occurred:\n",
    b"  + Exception Group Traceback (most recent call last):\n  | ",
    b"loss nan step 9999999999999999999999 lr 1e-400\n",
    "╭─ Traceback (most recent call last) ─╮\n│ ".encode(),
    b"Root Cause (first observed failure):\n[0]:\n  rank      : 99999\n",
    b"\n",
]
HOSTILE = st.lists(st.sampled_from(PIECES) | st.binary(max_size=12), max_size=60).map(b"".join)


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for text in strings(list(pair))]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def outcome(data: bytes) -> tuple[Reading | None, InputError | None]:
    try:
        return read(io.BytesIO(data)), None
    except InputError as error:
        return None, error


def check(data: bytes) -> None:
    found, refused = outcome(data)
    assert refused is None or refused.message.isprintable()
    for text in strings(to_plain(found) if found else {}):
        assert not any(
            (ord(sign) < 32 and sign not in "\t\n") or 0x7F <= ord(sign) < 0xA0 for sign in text
        ), repr(text)
        text.encode()


@given(HOSTILE)
@settings(deadline=None, max_examples=300)
def test_any_mixture_is_read_or_refused(data: bytes) -> None:
    check(data)


@pytest.mark.parametrize("seed", range(6))
def test_a_damaged_log_is_read_or_refused(seed: int) -> None:
    rng = random.Random(seed)
    examples = [text.encode() for pattern in load_patterns().values() for text in pattern.examples]
    for _ in range(25):
        data = bytearray(b"\n".join(rng.sample(examples, 4) + rng.sample(PIECES, 4)))
        for _ in range(rng.randrange(20)):
            at = rng.randrange(len(data))
            match rng.randrange(3):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    del data[at : at + rng.randrange(30)]
                case _:
                    data[at:at] = data[at : at + 40] * rng.randrange(4)
            data = data or bytearray(b"x")
        check(bytes(data))


def cpu(data: bytes) -> float:
    began = time.process_time()
    check(data)
    return time.process_time() - began


@pytest.mark.parametrize(
    "unit",
    [
        b"a.", b"a/", b"(", b"[", b"[1, ", b"'", b"`", b"1 ", b"1x", b"9", b" ", b">", b"> ", b"\x1b[", b"\x1b]", b"step 1\r", b"\n",
        b"[rank0]:", b"Error", b"a.Error: ", b"loss 1.0 ", b"cuda:0 ", b"x = (", b"key=", b"-", b"File \"", b"\xe2\x94\x82 ",
        b'  File "a.py", line 1, in f\n', b"Traceback (most recent call last):\n", b"RuntimeError: x\n", b"rank 1 ", b"failed (exitcode: 1) local_rank: 1\n",
        b"Expected size 1 but got size ", b"torch.", b"nn.Linear(", b'"a", ', b"Missing key(s) in state_dict: \"a\", ",
    ],
)  # fmt: skip
def test_time_grows_with_the_size_and_no_faster(unit: bytes) -> None:
    size = 200_000
    assert cpu((unit * size)[:size]) < 3.0


@pytest.mark.parametrize(
    "unit",
    [
        b"CUDA out of memory. ",
        b"a",
        b"x" * 30 + b" ",
        b'  File "a.py", line 1, in f\n    g()\n',
        b"[rank1]: RuntimeError: x\n",
    ],
)
def test_a_line_or_a_traceback_without_end(unit: bytes) -> None:
    size = 20_000_000
    assert cpu((unit * (size // len(unit) + 1))[:size]) < 6.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", [b"CUDA out of memory. ", b"a", b'  File "a.py", line 1, in f\n', b"the quick brown fox "]
)
def test_a_hundred_megabytes_of_one_line(unit: bytes) -> None:
    size = 100_000_000
    assert cpu((unit * (size // len(unit) + 1))[:size]) < 20.0
