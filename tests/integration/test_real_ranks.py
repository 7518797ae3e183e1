"""Programs that torchrun starts, under the real command: what is named of them, and that they end with the same bits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recording import PROGRAMS, environment, firstcause

# torch's gloo ends a healthy rank so now and then, as it stops its threads: without us too.
TORCHS_OWN = "terminate called without an active exception"
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "train.py")


def launched(cwd: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """Two ranks under ``firstcause run``; the record is the folder ``run``."""
    cwd.mkdir(exist_ok=True)
    (cwd / "train.py").write_text((PROGRAMS / "ranks.py").read_text())
    return firstcause(cwd, "run", "-q", "-o", "run", sys.executable, *LAUNCH, kind)


BAD = "ranks_bad_value.py"


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("loss", "log-of-zero"),
        pytest.param("gradient", "sqrt-backward-at-zero", marks=pytest.mark.slow),
    ],
)
def test_a_bad_value_of_one_rank_is_named_by_rank_op_and_line(tmp_path: Path, kind: str, cause: str) -> None:
    """Its gradient is summed over the ranks, so that every one has it: the rank is found whose own step makes it."""
    text = (PROGRAMS / BAD).read_text()
    (tmp_path / "train.py").write_text(text)
    firstcause(tmp_path, "run", "-q", "-o", "run", sys.executable, *LAUNCH, kind)

    said = diagnosed(tmp_path)

    assert (said["status"], said["cause"]) == ("established", cause), said["printed"]
    line = next(i for i, x in enumerate(text.splitlines(), 1) if x.endswith(f"# {kind}"))
    assert said["site"]["line"] == line
    assert said["symptom"]["rank"] == 1
    assert "It was first seen on rank 1." in " ".join(said["printed"].split())
    first = next(h for h in said["hypotheses"] if h["cause"] == cause)["evidence"][0]
    assert "not exact" not in first["text"]
    assert first["rank"] == 1
    replayed = firstcause(tmp_path, "replay", "run")
    assert "the loss of this rank alone is the same bit for bit" in replayed.stdout
    if kind == "loss":
        case = said["printed"].rpartition("firstcause case approve ")[2].split()[0]
        firstcause(tmp_path, "minimize", case, "-o", "repro.py")
        script = (tmp_path / "repro.py").read_text()
        assert len(script.split()) < 40
        ended = subprocess.run(
            [sys.executable, "repro.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert "AssertionError: tensor([-inf])" in ended.stderr


@pytest.mark.slow
def test_a_step_that_takes_values_from_other_ranks_is_not_replayed_by_one(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text((PROGRAMS / BAD).read_text())
    firstcause(tmp_path, "run", "-q", "-o", "run", sys.executable, *LAUNCH, "gathered")

    said = diagnosed(tmp_path)

    assert (said["status"], said["cause"]) == ("not-established", None)
    assert "it calls all_gather before its loss" in said["missing"]


def alone(cwd: Path, kind: str) -> None:
    cwd.mkdir()
    (cwd / "train.py").write_text((PROGRAMS / "ranks.py").read_text())
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, *LAUNCH, kind],
            cwd=cwd,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        if ended.returncode == 0 or TORCHS_OWN not in ended.stderr:
            break
    assert ended.returncode == 0, ended.stderr


def bits(cwd: Path) -> list[str]:
    return [(cwd / f"bits-{rank}").read_text() for rank in range(2)]


def seen(cwd: Path) -> list[str]:
    firstcause(cwd, "ranks", "run", "--json", "seen.json")
    found: list[str] = json.loads((cwd / "seen.json").read_text())["seen"]
    return found


def diagnosed(cwd: Path) -> dict[str, Any]:
    done = firstcause(cwd, "diagnose", "run", "--yes", "--json", "said.json")
    said: dict[str, Any] = json.loads((cwd / "said.json").read_text())
    return said | {"printed": done.stdout}


def line_of(mark: str) -> int:
    lines = (PROGRAMS / "ranks.py").read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


@pytest.mark.parametrize("kind", ["ddp_with_no_sync", pytest.param("fsdp", marks=pytest.mark.slow)])
def test_healthy_ranks_end_with_the_same_bits_and_nothing_is_seen(tmp_path: Path, kind: str) -> None:
    alone(tmp_path / "alone", kind)
    watched = tmp_path / "watched"
    done = launched(watched, kind)
    assert done.returncode == 0, done.stderr
    assert bits(watched) == bits(tmp_path / "alone")
    assert seen(watched) == []
    events = b"".join(path.read_bytes() for path in (watched / "run").glob("*.journal"))
    assert b"internal-error" not in events
    assert b"grad_norm" in events


def test_a_branch_that_one_rank_takes_is_named_with_its_rank_and_line(tmp_path: Path) -> None:
    done = launched(tmp_path, "branch_on_one_rank")
    assert done.returncode != 0
    line = line_of("branch_on_one_rank")
    assert any("ank 0" in s and f"train.py:{line}" in s for s in seen(tmp_path)), seen(tmp_path)


@pytest.mark.slow
def test_a_branch_that_one_rank_takes_is_established_as_the_cause(tmp_path: Path) -> None:
    launched(tmp_path, "branch_on_one_rank")
    line = line_of("branch_on_one_rank")
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "rank-dependent-collective"), said["printed"]
    assert said["site"]["line"] == line - 1
    assert f"rank 0 made all_reduce [[]] at train.py:{line}" in " ".join(said["printed"].split())


@pytest.mark.slow
def test_weights_that_differ_are_named_where_they_are_made(tmp_path: Path) -> None:
    done = launched(tmp_path, "weights_of_their_own")
    assert done.returncode == 0, done.stderr
    said = diagnosed(tmp_path)
    assert (said["status"], said["cause"]) == ("established", "rank-specific-initial-weights"), said[
        "printed"
    ]
    assert said["site"]["line"] in (line_of("weights_of_their_own"), line_of("weights_of_their_own") - 1)


@pytest.mark.slow
def test_a_nan_of_one_shard_is_told_with_its_step_and_rank_and_no_cause_is_made_up(tmp_path: Path) -> None:
    launched(tmp_path, "fsdp_with_log_of_zero")
    said = diagnosed(tmp_path)
    assert (said["symptom"]["kind"], said["symptom"]["step"], said["symptom"]["rank"]) == ("nan", 5, 1)
    assert said["cause"] in (None, "log-of-zero"), said["printed"]
    assert "could not be written" not in said["printed"]
