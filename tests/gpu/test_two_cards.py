"""Two ranks with a card each: the same bits recorded or not, and what is said of a branch and of a bad value of one rank."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from on_card import COMMAND, DEVICE, call, diagnosed, journal, line_of, placed

LAUNCH = (
    sys.executable,
    "-m",
    "torch.distributed.run",
    "--standalone",
    "--nproc_per_node=2",
    "train.py",
    DEVICE,
)


def has_two() -> bool:
    import torch

    return DEVICE == "cpu" or torch.cuda.device_count() > 1


@pytest.fixture(autouse=True)
def two_cards() -> None:
    if not has_two():
        pytest.skip("one card")


def launched(cwd: Path, kind: str, *before: str) -> subprocess.CompletedProcess[str]:
    placed(cwd, "two_ranks")
    return call(cwd, *before, *LAUNCH, kind)


def recorded(cwd: Path, kind: str) -> subprocess.CompletedProcess[str]:
    return launched(cwd, kind, *COMMAND, "run", "-q", "-o", "run")


def overview(cwd: Path) -> dict[str, Any]:
    call(cwd, *COMMAND, "ranks", "run", "--json", "ranks.json")
    told: dict[str, Any] = json.loads((cwd / "ranks.json").read_text())
    return told


@pytest.mark.parametrize("kind", ["ddp", "fsdp"])
def test_recorded_ranks_end_with_the_same_bits(tmp_path: Path, kind: str) -> None:
    alone, watched = launched(tmp_path, kind), recorded(tmp_path, kind)
    assert alone.returncode == watched.returncode == 0, alone.stderr + watched.stderr
    bits = [
        sorted(line for line in run.stdout.splitlines() if line[:2] in ("0 ", "1 "))
        for run in (alone, watched)
    ]
    assert len(bits[0]) == 2
    assert bits[0] == bits[1]
    assert "internal-error" not in journal(tmp_path)
    told = overview(tmp_path)
    assert told["seen"] == []
    assert all(r["collectives"] > 12 for r in told["ranks"]), told["ranks"]


def test_a_branch_of_one_rank_is_named_soon_after_it_was_noticed(tmp_path: Path) -> None:
    done = recorded(tmp_path, "branch")
    assert done.returncode != 0
    began = time.monotonic()
    told = overview(tmp_path)
    assert time.monotonic() - began < 30
    line = line_of("two_ranks", "# branch")
    assert any("ank 0" in s and f"train.py:{line}" in s for s in told["seen"]), told
    print(told["seen"])


def test_a_bad_value_of_one_rank_is_named_by_rank_op_and_line(tmp_path: Path) -> None:
    recorded(tmp_path, "bad_value")
    said = diagnosed(tmp_path)
    print(said["printed"])
    assert (said["status"], said["cause"]) == ("established", "log-of-zero"), said["printed"]
    assert said["site"]["line"] == line_of("two_ranks", "# bad_value")
    assert said["symptom"]["rank"] == 1
    # Tried in a confined copy, which may compute on the cards.
    assert said["fix"] is not None, said["printed"]


def test_a_bad_value_among_shards_is_seen_though_its_step_is_read_later(tmp_path: Path) -> None:
    """Nothing is held back: a flag of one rank would part it from the others."""
    alone, watched = launched(tmp_path, "fsdp_bad_value"), recorded(tmp_path, "fsdp_bad_value")
    assert alone.returncode == watched.returncode == 0, alone.stderr + watched.stderr
    events = journal(tmp_path)
    assert "deferred" in events, events
    assert "held back" not in events
    assert "internal-error" not in events, events
    said = diagnosed(tmp_path)
    assert said["symptom"]["kind"] == "nan", said
    assert said["symptom"]["step"] == 7
    assert said["status"] != "healthy"
