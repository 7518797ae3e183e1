"""SIGKILL of a diagnosis that runs the program again, of a paused run, and of what it leaves."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import processes
import programs
import pytest

from firstcause.record.folder import RunFolder

SEED = 4
MOMENTS = [random.Random(SEED + n).random() for n in range(8)]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A run that failed, and how long its diagnosis takes with everything that it may run."""
    cwd = tmp_path_factory.mktemp("recorded")
    (cwd / "train.py").write_text(programs.FAILS + "sys.exit(int(loss.isfinite()))\n")
    assert processes.firstcause(cwd, "run", "python", "train.py").code == 1
    trial = tmp_path_factory.mktemp("trial") / "copy"
    shutil.copytree(cwd, trial)
    began = time.monotonic()
    done = processes.firstcause(trial, "diagnose", "--yes", "--times", "1")
    assert done.code in (0, 3), done.stderr
    return cwd, time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("part", MOMENTS)
def test_diagnosis_killed(part: float, recorded: tuple[Path, float], tmp_path: Path) -> None:
    cwd = tmp_path / "copy"
    shutil.copytree(recorded[0], cwd)
    words = [*processes.FIRSTCAUSE, "diagnose", "--yes", "--times", "1"]
    started = processes.Started(words, cwd)
    time.sleep(part * recorded[1])
    processes.kill(started.process.pid)
    started.process.wait(10)
    assert started.left() == []
    after = processes.firstcause(cwd, "diagnose")
    assert after.code in (0, 3), after.stderr
    assert "Traceback" not in after.stderr
    assert processes.firstcause(cwd, "case", "list").code == 0


@pytest.mark.parametrize("who", [pytest.param("command", marks=pytest.mark.slow), "supervisor"])
def test_paused_run_killed(who: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(programs.FAILS)
    words = [*processes.FIRSTCAUSE, "run", "-o", "run", "--on-nan", "pause", "python", "train.py"]
    started = processes.Started(words, tmp_path)
    processes.until(lambda: "paused before step" in started.output())
    command = started.command_of()
    assert command is not None
    processes.kill(command if who == "command" else started.process.pid)
    assert started.process.wait(10) == -signal.SIGKILL
    assert started.left() == []
    done = processes.firstcause(tmp_path, "diagnose", "run")
    assert done.code in (0, 3)
    symptoms = RunFolder(str(tmp_path / "run")).run().symptoms
    assert [s.kind for s in symptoms] == ["nan", "signal"]


@pytest.mark.slow
def test_interrupted_diagnosis_leaves_nothing(recorded: tuple[Path, float], tmp_path: Path) -> None:
    cwd = tmp_path / "copy"
    shutil.copytree(recorded[0], cwd)
    started = processes.Started([*processes.FIRSTCAUSE, "diagnose", "--yes"], cwd)
    time.sleep(0.4 * recorded[1])
    os.kill(started.process.pid, signal.SIGINT)
    code = started.process.wait(20)
    assert code in (0, 3, 130)
    assert started.left() == []
    assert "Traceback" not in started.output()
