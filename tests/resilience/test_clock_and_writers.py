"""Clocks that are set back, and several recordings at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import processes
import programs
import pytest

from firstcause.record.folder import RunFolder

# Whoever starts, sees a clock that runs so many seconds behind, and jumps back further while the program runs.
CLOCK = """
import itertools, os, time
_time, _strftime, _calls = time.time, time.strftime, itertools.count()
back = float(os.environ.get("CLOCK_BACK", "0"))
jump = float(os.environ.get("CLOCK_JUMP", "0"))
time.time = lambda: _time() - back - (jump if next(_calls) > 200 else 0)
time.strftime = lambda form, at=None: _strftime(form, time.localtime(time.time()) if at is None else at)
"""
DAY = "86400"
QUICK = "import sys\nprint(sys.argv[1:])\nsys.exit(3)\n"


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(CLOCK)
    (tmp_path / "quick.py").write_text(QUICK)
    return tmp_path


def last(cwd: Path) -> RunFolder:
    done = processes.firstcause(cwd, "diagnose", "--json", "-")
    assert done.code == 3, done.stderr
    names = sorted(p.name for p in (cwd / ".firstcause" / "runs").iterdir())
    return RunFolder(str(cwd / ".firstcause" / "runs" / names[-1]))


@pytest.mark.parametrize("back", ["0", DAY, pytest.param(str(400 * 86400), marks=pytest.mark.slow)])
def test_the_last_run_is_the_last_one_whatever_the_clock_says(back: str, cwd: Path) -> None:
    shim = {"PYTHONPATH": str(cwd / "clock")}
    for number, behind in enumerate(("0", back, back)):
        done = processes.firstcause(cwd, "run", "python", "quick.py", str(number), CLOCK_BACK=behind, **shim)
        assert (done.code, done.stdout) == (3, f"['{number}']\n")
    assert last(cwd).run().command[-1] == "2"


@pytest.mark.slow
def test_the_clock_jumps_back_while_a_training_is_recorded(cwd: Path) -> None:
    now = str((cwd / "quick.py").stat().st_mtime)
    shim = {"PYTHONPATH": str(cwd / "clock"), "CLOCK_JUMP": DAY}
    clocked = programs.LEARNS.replace(
        "    x = torch", "    [time.time() for _ in range(5)]\n    x = torch", 1
    )
    (cwd / "train.py").write_text(clocked + "print(time.time() < float(sys.argv[1]) - 80000)\n")
    plain = processes.command([sys.executable, "train.py", now], cwd, **shim)
    recorded = processes.firstcause(cwd, "run", "python", "train.py", now, **shim)
    assert plain.stdout.endswith("True\n")
    assert (recorded.code, recorded.stdout) == (plain.code, plain.stdout)
    runs = list((cwd / ".firstcause" / "runs").iterdir())
    folder = RunFolder(str(runs[0]))
    assert folder.run().seconds > 0
    assert [len(r.rows) for r in folder.journals().values()] == [150]
    assert processes.firstcause(cwd, "diagnose").code == 0


WAITS = """
import os, sys, time
open(sys.argv[1], "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
sys.exit(int(sys.argv[2]))
"""


def test_two_runs_at_once(cwd: Path) -> None:
    (cwd / "waits.py").write_text(WAITS)
    words = [*processes.FIRSTCAUSE, "run"]
    same = ["-o", "same"]
    both = [
        processes.Started([*words, *own, "python", "waits.py", name, code], cwd)
        for own, name, code in (([], "a", "4"), ([], "b", "5"), (same, "c", "6"))
    ]
    processes.until(lambda: all((cwd / name).exists() for name in "abc"))
    # While they run: neither is another one's to write, and none is judged before its end.
    third = processes.firstcause(cwd, "run", *same, "python", "quick.py")
    forced = processes.firstcause(cwd, "run", "-f", *same, "python", "quick.py")
    early = processes.firstcause(cwd, "diagnose", "same")
    for done in (third, forced, early):
        assert done.code == 2
        assert len(done.said) == 1
        assert "is still being recorded" in done.said[0]
        assert done.stdout == ""
    beside = processes.firstcause(cwd, "run", "python", "quick.py")
    assert (beside.code, "was killed" in beside.stderr) == (3, False)
    (cwd / "go").touch()
    assert [one.process.wait(60) for one in both] == [4, 5, 6]
    runs = [*(cwd / ".firstcause" / "runs").iterdir(), cwd / "same"]
    codes = sorted(json.loads((run / "run.json").read_text())["exit_code"] for run in runs)
    assert codes == [3, 4, 5, 6]
    assert not any(RunFolder(str(run)).is_held() for run in runs)
    assert [one.left() for one in both] == [[], [], []]


def test_two_runs_into_one_new_folder(cwd: Path) -> None:
    words = [*processes.FIRSTCAUSE, "run", "-o", "same", "python", "quick.py"]
    both = [processes.Started(words, cwd) for _ in range(2)]
    codes = sorted(one.process.wait(60) for one in both)
    # Either the second was too early and heard so, or it found the folder of the first.
    assert codes == [2, 3]
    assert RunFolder(str(cwd / "same")).run().exit_code == 3
