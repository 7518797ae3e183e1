"""SIGKILL at any moment: what was acknowledged is there, the next command works, and nothing is left running."""

from __future__ import annotations

import fcntl
import json
import random
import time
from dataclasses import dataclass
from pathlib import Path

import processes
import programs
import pytest

from firstcause.record.folder import RunFolder
from firstcause.record.journal import Reading

SEED = 4
WHO = ("command", "supervisor", "both")
QUICK, ALL = 8, 100


@dataclass(frozen=True)
class Moment:
    """So many seconds after the start, after a number of steps were over, or after the training has ended."""

    after: str
    steps: int
    seconds: float

    def come(self, started: processes.Started, cwd: Path) -> None:
        """Wait for the moment, or for the end of the command."""
        processes.until(lambda: self._reached(started, cwd) or started.process.poll() is not None)
        time.sleep(self.seconds)

    def _reached(self, started: processes.Started, cwd: Path) -> bool:
        if self.after == "end":
            return "trained" in started.output()
        return self.after == "start" or programs.acknowledged(cwd) >= self.steps


def moments(count: int) -> list[object]:
    """Who is killed, in which program, and when."""
    draw = random.Random(SEED)
    chosen = []
    for n in range(count):
        moment = draw.choice(
            [
                Moment("start", 0, draw.uniform(0, 1.5)),
                Moment("steps", draw.randrange(150), draw.uniform(0, 0.05)),
                # The failing step and its replay.
                Moment("steps", 40, draw.uniform(0, 1)),
                Moment("end", 0, draw.uniform(0, 0.4)),
            ]
        )
        chosen.append((WHO[n % 3], draw.choice(("learns", "fails")), moment))
    return [
        pytest.param(
            *one,
            id=f"{n}-{one[0]}-{one[1]}-{one[2].after}-{one[2].steps}-{one[2].seconds:.3f}",
            marks=[pytest.mark.slow] * (n >= QUICK),
        )
        for n, one in enumerate(chosen)
    ]


def write(folder: Path, name: str) -> None:
    (folder / "train.py").write_text({"learns": programs.LEARNS, "fails": programs.FAILS}[name])


@pytest.mark.parametrize(("who", "name", "moment"), moments(ALL))
def test_killed(who: str, name: str, moment: Moment, tmp_path: Path) -> None:
    write(tmp_path, name)
    started = processes.Started([*processes.FIRSTCAUSE, "run", "python", "train.py"], tmp_path)
    moment.come(started, tmp_path)
    # At once, or the one would hear of the other's end first.
    command = started.command_of() if who != "supervisor" else None
    supervisor = started.process.pid if who != "command" else None
    processes.kill(supervisor)
    processes.kill(command)
    code = started.process.wait(60)
    assert started.left() == []
    done = programs.acknowledged(tmp_path)
    runs = sorted((tmp_path / ".firstcause" / "runs").glob("*"))
    folder = RunFolder(str(runs[-1])) if runs else None
    readings = list(folder.journals().values()) if folder else []
    assert sum(r.lost_bytes for r in readings) == 0
    assert steps(readings) >= done

    if not runs or not (runs[-1] / "run.json").exists():
        assert processes.firstcause(tmp_path, "diagnose").code == 2
    else:
        judge(tmp_path, runs[-1], code, name)
    (tmp_path / "next.py").write_text("print('next')\nraise SystemExit(5)\n")
    after = processes.firstcause(tmp_path, "run", "python", "next.py")
    assert (after.code, after.stdout) == (5, "next\n"), after.stderr
    assert not [p for p in tmp_path.rglob("*") if p.name == "scratch"]
    assert not [p for p in tmp_path.rglob("lock") if is_locked(p)]


def is_locked(path: Path) -> bool:
    with path.open("rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def steps(readings: list[Reading]) -> int:
    return max((len(r.rows) for r in readings), default=0)


def judge(cwd: Path, run: Path, code: int, name: str) -> None:
    """What is said of a run that was killed, or that had ended before."""
    assert not RunFolder(str(run)).is_held()
    done = processes.firstcause(cwd, "diagnose", "--json", "-")
    said = first(done)
    assert "Traceback" not in done.stderr
    recorded = json.loads((run / "run.json").read_text())
    if code == 0:
        assert said["status"] == "healthy" if name == "learns" else said["status"] != "healthy"
        return
    assert said["status"] != "healthy"
    kinds = [s["kind"] for s in recorded["symptoms"]]
    assert "signal" in kinds, recorded["symptoms"]
    told = next(s["message"] for s in recorded["symptoms"] if s["kind"] == "signal")
    assert "SIGKILL" in told
    if name == "learns" or "nan" not in kinds:
        assert done.code == 3
        assert said["cause"] is None
        assert told in " ".join(said["sections"].values())


def first(done: processes.Done) -> dict[str, object]:
    value, _ = json.JSONDecoder().raw_decode(done.stdout)
    return value
