"""Trainings that run away or stand still, diagnosed by arms of one change each: real commands, real forks."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.diagnose import diagnose
from firstcause.lab.counterfactual import CONTROL, Arm, Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis

PROGRAMS = Path(__file__).parent / "programs"


def record(name: str, folder: Path) -> RunFolder:
    shutil.copy(PROGRAMS / f"{name}.py", folder / "train.py")
    command = [sys.executable, "-m", "firstcause", "run", "-q", "-o", "run", sys.executable, "train.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    return RunFolder(str(folder / "run"))


def settled(folder: RunFolder) -> Diagnosis:
    return diagnose(folder, lambda failure: Lab(folder, failure, 100))


CASES = [
    ("rate_too_high", "learning-rate-too-high", 'CONFIG = {"lr": 6.0, "steps": 60}'),
    ("summed_micro_batches", "accumulation-not-divided", "loss.backward()"),
    ("recurrent_gain", "exploding-gradient", "optimizer.step()"),
    ("clipped_while_scaled", "clip-before-unscale", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
    ("scaler_without_update", "scaler-update-missing", "scaler.step(optimizer)"),
    # Two optimizers step after one backward.
    ("towers_half_cleared", "missing-zero-grad", "left_step.zero_grad()"),
]


@pytest.mark.parametrize(("program", "cause", "line"), CASES)
def test_the_cause_is_settled_by_an_arm_and_its_rivals(
    program: str, cause: str, line: str, tmp_path: Path
) -> None:
    folder = record(program, tmp_path)
    before = (tmp_path / "train.py").read_bytes()

    diagnosis = settled(folder)

    assert (diagnosis.status, diagnosis.cause) == ("established", cause)
    assert diagnosis.site is not None
    assert diagnosis.site.text == line
    confirmed = next(h for h in diagnosis.hypotheses if h.cause == cause)
    assert [e.kind for e in confirmed.evidence] == ["counterfactual"]
    assert diagnosis.fix is not None
    assert (tmp_path / "train.py").read_bytes() == before


def test_without_consent_nothing_is_run_and_the_missing_experiment_is_named(tmp_path: Path) -> None:
    folder = record("rate_too_high", tmp_path)

    diagnosis = diagnose(folder, lambda failure: Lab(folder, failure, 100, allowed=lambda: False))

    assert diagnosis.status == "not-established"
    assert "diagnose with --yes" in diagnosis.missing


def test_a_loss_that_rises_by_design_gets_no_cause(tmp_path: Path) -> None:
    diagnosis = settled(record("rising_by_design", tmp_path))

    assert diagnosis.cause is None


def test_arms_start_alike_and_see_nothing_of_each_other(tmp_path: Path) -> None:
    folder = record("rate_too_high", tmp_path)
    lab = Lab(folder, {}, 60)

    ran = lab.from_start([CONTROL, Arm("rate 0", "learning_rate", {"factor": 0.0}), Arm("again")], 6)

    first, still, again = ran.values()
    assert first.rows == again.rows
    assert first.losses[0] == still.losses[0]
    assert {r["update"] for r in still.rows} == {0.0}
    assert first.losses[1:] != still.losses[1:]
