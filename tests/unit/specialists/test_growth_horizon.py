"""How long a training is watched for memory that the record saw rise: until so slow a growth can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal
from firstcause.schema import Run, Symptom
from firstcause.specialists import growth
from firstcause.specialists.examination import Examination


def risen(folder: Path, per_step: int, steps: int = 2000) -> Examination:
    written = Journal(str(folder / "rank-0-1.journal"))
    for step in range(steps):
        written.metrics(step, ("loss",), [1.0])
        if step % 100 == 0:
            written.event("memory", step=step, resident=(1 << 28) + per_step * step)
    run = Run("r", ("python", "train.py"), str(folder), "", "3.11", "linux", seconds=500.0)
    return Examination(RunFolder(str(folder)), run, Symptom("invariant", ""), None)


@pytest.mark.parametrize(
    ("per_step", "steps"), [(20_000, 839), (200_000, 84), (1_000, growth.MOST_STEPS), (0, 0)]
)
def test_slower_growth_takes_more_steps(per_step: int, steps: int, tmp_path: Path) -> None:
    assert growth.steps_to_show(risen(tmp_path, per_step)) == steps


def test_arms_take_no_more_steps_than_the_run_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examination = risen(tmp_path, 10_000, steps=401)
    lab = Lab(examination.folder, {}, 60.0)
    monkeypatch.setattr(examination.folder, "run", lambda: examination.run)

    assert lab.horizon(60) == 60
    lab.least = 629
    assert lab.horizon(60) == 401
