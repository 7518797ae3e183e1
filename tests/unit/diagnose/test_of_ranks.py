"""Of ranks whose gradients all turned bad at one step, the one that makes a bad value by itself is diagnosed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.diagnose import of_ranks
from firstcause.lab import again
from firstcause.lab.counterfactual import Lab
from firstcause.lab.sealed import Ended
from firstcause.record.folder import RunFolder
from firstcause.schema import Run, Symptom

SYMPTOMS = tuple(Symptom("nan", f"rank {r}", step=7, rank=r) for r in range(3))


def failure(rank: int, step: int = 7, **more: Any) -> dict[str, Any]:
    return {"kind": "nan", "step": step, "rank": rank, "name": f"{rank}-{step}", "alone": {}} | more


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    made = RunFolder(str(tmp_path))
    made.write_run(Run("r", ("torchrun", "train.py"), str(tmp_path), "", "3.11", "linux", symptoms=SYMPTOMS))
    found = [failure(0), failure(1, step=9), failure(1), failure(2)]
    monkeypatch.setattr(RunFolder, "failures", lambda self: found)
    return made


def replaying(monkeypatch: pytest.MonkeyPatch, *bad: int, exact: bool = True) -> list[str]:
    asked: list[str] = []

    def with_replay(folder: Any, failure: dict[str, Any], lab: Any) -> dict[str, Any]:
        asked.append(failure["name"])
        births = [{"op": "log"}] if failure["rank"] in bad and failure["step"] == 7 else []
        return failure | {"replay": {"exact": exact, "trace": {"births": births}}}

    monkeypatch.setattr(of_ranks, "with_replay", with_replay)
    return asked


@pytest.mark.parametrize(("bad", "rank", "asked"), [((0, 1), 0, 1), ((1, 2), 1, 2), ((2,), 2, 3), ((), 0, 3)])
def test_the_first_rank_that_makes_one_is_taken_with_its_symptom(
    bad: tuple[int, ...], rank: int, asked: int, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, lab = replaying(monkeypatch, *bad), Lab(folder, failure(0), 60)

    symptom, found = of_ranks.replayed(folder, SYMPTOMS[0], failure(0), lab)

    assert found is not None
    assert (found["rank"], symptom.rank, len(names)) == (rank, rank, asked)
    assert lab.failure["rank"] == rank


def test_where_one_rank_cannot_be_replayed_alone_no_other_is_tried(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = replaying(monkeypatch, 1, exact=False)

    symptom, found = of_ranks.replayed(folder, SYMPTOMS[0], failure(0), Lab(folder, failure(0), 60))

    assert (found or {})["rank"] == symptom.rank == 0
    assert names == ["0-7"]


def test_a_rank_whose_loss_is_another_one_alone_is_not_replayed(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = '{"status": "diverged", "exact": false, "why": "alone, the loss is 2", "trace": {"births": [{}]}}'
    monkeypatch.setattr(again, "run_sealed", lambda *args: Ended(0, (line,), ""))
    monkeypatch.setattr(again, "failing_step", lambda folder, failure: {})
    rank = failure(1, snapshot="s", alone={"command": ["python", "train.py"], "variables": {}})

    found = again.replay_fresh(folder, rank, 10)

    assert found == {"status": "lost", "exact": False, "why": "alone, the loss is 2"}
