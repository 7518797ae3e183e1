"""What launchers, loggers and containers put before a line is taken off, and told."""

from __future__ import annotations

import pytest

from firstcause.triage.lines import lines_of
from firstcause.triage.prefixes import stripped

FRAME = '  File "net.py", line 7, in forward'


@pytest.mark.parametrize(
    ("prefix", "rank", "pid"),
    [
        ("[rank12]: ", 12, None),
        ("[default3]:", 3, None),
        ("[1,5]<stderr>:", 5, None),
        ("worker-0  | ", None, None),
        ("[pod/train-abc/main] ", None, None),
        ("2025-03-01T10:11:12.345Z stderr F ", None, None),
        ("2025-03-01 10:11:12,345 - my.logger - ERROR - ", None, None),
        ("[2025-03-01 10:11:12,345] [ERROR] [engine.py:12:step] ", None, None),
        ("(RayWorkerWrapper pid=771, ip=10.0.0.2) ", None, 771),
        ("(EngineCore_DP0 pid=42) ERROR 03-01 10:11:12 [core.py:936] ", None, 42),
        ("(VllmWorkerProcess pid=43) ERROR 03-01 10:11:12 worker.py:9] ", None, 43),
        ("E0301 10:11:12.345000 999 torch/distributed/run.py:12] ", None, None),
        ("Mar  1 10:11:12 node7 train[88]: ", None, None),
        ("[rank4]:[E301 10:11:12.345678901 ProcessGroupNCCL.cpp:607] ", 4, None),
        ("> ", None, None),
    ],
)
def test_a_prefix_is_taken_off_and_its_writer_known(prefix: str, rank: int | None, pid: int | None) -> None:
    rest, origin = stripped(prefix + FRAME)
    assert rest == FRAME
    assert (origin.rank, origin.pid) == (rank, pid)


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: CUDA error: invalid argument",
        "CUDA out of memory. Tried to allocate 2 GiB",
        "1 epoch takes 3 h on 2 nodes",
        "[rank: 1] Child process with PID 7 terminated with code -9.",
        ">>> model(x)",
        "(stuck since the third epoch)",
        "[3, 224, 224] is what I pass",
    ],
)
def test_what_is_no_prefix_stays(line: str) -> None:
    assert stripped(line)[0] == line


def test_control_codes_go_and_the_escape_that_a_copy_lost_as_well() -> None:
    text = "\x1b[1;31mRuntimeError\x1b[0m: a\x07b\x1b]0;title\x07c [1;31mbad[0m \u202ex"
    assert [line.text for line in lines_of(text.encode(), 1)] == ["RuntimeError: abc bad x"]


def test_a_progress_bar_keeps_its_first_and_last_states() -> None:
    bar = "\r".join(f"step {at}" for at in range(10_000))
    texts = [line.text for line in lines_of(f"{bar}\r\nKeyError: 'x'\n".encode(), 7)]
    assert len(texts) < 100
    assert (texts[0], texts[-3], texts[-2]) == ("step 0", "step 9999", "KeyError: 'x'")


def test_json_lines_are_unwrapped_with_their_rank() -> None:
    line = '{"level": "error", "rank": 6, "message": "RuntimeError: bad\\nsecond", "ts": 1}'
    found = list(lines_of(line.encode(), 3))
    assert [(one.number, one.text, one.origin.rank) for one in found] == [
        (3, "RuntimeError: bad", 6),
        (3, "second", 6),
    ]
