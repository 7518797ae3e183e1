"""The rank that failed first, and not those that waited for it."""

from __future__ import annotations

import io

from firstcause.triage.read import read

WAITED = (
    "[rank{0}]:[E105 01:02:03.4 ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={1}, OpType=ALLGATHER, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600020 milliseconds "
    "before timing out."
)
SUMMARY = """\
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
train.py FAILED
Root Cause (first observed failure):
[0]:
  time      : 2025-01-05_01:12:03
  host      : node3
  rank      : {} (local_rank: 1)
  exitcode  : {} (pid: 4711)
"""


def reading(*lines: str):
    return read(io.BytesIO("\n".join(lines).encode()))


def test_who_raised_goes_before_who_waited() -> None:
    found = reading(
        WAITED.format(0, 40),
        WAITED.format(1, 40),
        "[rank2]: Traceback (most recent call last):",
        '[rank2]:   File "fit.py", line 4, in step',
        "[rank2]:     x[9]",
        "[rank2]: IndexError: index 9 is out of bounds for dimension 0 with size 4",
        SUMMARY.format(0, -6),
    )
    assert found.first_failed == 2
    assert found.facts["origin_rank"] == 2
    assert found.facts["user_frame"] == "fit.py:4"


def test_the_agent_knows_who_was_killed_first() -> None:
    found = reading(WAITED.format(0, 40), SUMMARY.format(3, -9))
    assert found.first_failed == 3
    assert found.facts["pids"] == [4711]


def test_the_rank_that_says_nothing() -> None:
    said = reading("world_size=4", *(WAITED.format(rank, 40) for rank in (0, 1, 3)))
    assert (said.first_failed, said.facts["silent_rank"]) == (2, 2)
    told = reading(WAITED.format(0, 40), WAITED.format(2, 40), "only rank 1 prints nothing at all")
    assert told.facts["silent_rank"] == 1


def test_the_rank_that_is_behind() -> None:
    found = reading(WAITED.format(0, 900), WAITED.format(5, 411), WAITED.format(6, 900))
    assert found.first_failed == 5


def test_who_only_waited_is_not_the_origin() -> None:
    found = reading(WAITED.format(0, 40), WAITED.format(1, 40))
    assert found.first_failed is None
    assert "origin_rank" not in found.facts
    assert found.facts["ranks"] == [0, 1]
