"""SIGKILL at each operation that changes the disk, in every state, and of the commands at random moments."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from case.killed_driver import BOTH, LAST, YES
from case.samples import diagnosis, project, unified
from firstcause.case import CaseFolder, all_cases, approve, diagnosis_hash, diff_hash, find_case, open_case
from firstcause.case.history import HISTORY, read
from firstcause.diagnose import precedents

DRIVER = str(Path(__file__).with_name("killed_driver.py"))
COMMAND = (sys.executable, "-m", "firstcause")
EXPECTED = [
    "open",
    "reject",
    "open",
    "approve",
    "apply",
    "verify",
    "open",
    "approve",
    "apply",
    "verify",
    "close",
]


class Driver:
    """The process that works cases in processes of its own, which are killed."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, DRIVER], stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    def drive(self, cwd: Path, kill_at: int) -> tuple[int, list[list[str]]]:
        """How the work on a project ended, and what it acknowledged."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{kill_at} {cwd}\n")
        self.process.stdin.flush()
        lines: list[list[str]] = []
        while not lines or lines[-1][0] != "ended":
            lines.append(self.process.stdout.readline().split() or ["ended", "1"])
        code = int(lines.pop()[1])
        if code not in (0, -signal.SIGKILL):
            raise AssertionError(self.end())
        return code, lines

    def end(self) -> str:
        """Let it come to its end; what it had to say of failures."""
        return self.process.communicate(timeout=60)[1]


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    if driver.process.poll() is None:
        assert driver.end() == ""


def made(folder: Path) -> Path:
    folder.mkdir()
    project(folder)
    return folder


def killed_and_finished(driver: Driver, cwd: Path, kill_at: int) -> bool:
    """Kill a case at one operation, look at what is there, and let the next commands finish it."""
    code, acknowledged = driver.drive(cwd, kill_at)
    root = str(cwd / ".firstcause")
    cases = all_cases(root)
    if acknowledged:
        reading = read(cases[-1].path)
        assert len(reading.events) >= int(acknowledged[-1][1])
        names = [e.event for e in reading.events]
        assert all(names[i - 1] == "applying" for i, name in enumerate(names) if name == "applied")
        assert names.count("applying") <= names.count("approved")
        cases[-1].progress()
    for name in ("train.py", "data.py"):
        texts = {text for patch in (BOTH, LAST) for text in patch[name]}
        assert (cwd / name).read_text() in texts
    code_after, then = driver.drive(cwd, 0)
    assert code_after == 0
    (folder,) = all_cases(root)
    assert folder.progress().case.state == "closed"
    assert {name: (cwd / name).read_text() for name in LAST} == {name: new for name, (_, new) in LAST.items()}
    assert [a.passed for a in folder.progress().attempts] == [False, True]
    assert folder.progress().case.strikes == 1
    assert sorted(p.name for p in cwd.iterdir()) == [".firstcause", "data.py", "train.py"]
    (kept,) = precedents.read(str(cwd))
    assert (kept.verified, [t.cause for t in kept.failed]) == (("nan-in-data",), ["log-of-zero"])
    assert "Fixed and verified" in Path(folder.path, "retrospective.md").read_text()
    assert then[-1][0] == "operations"
    return code == -signal.SIGKILL


def operations(driver: Driver, cwd: Path) -> int:
    """How many operations change the disk in a case that nobody kills."""
    code, acknowledged = driver.drive(made(cwd), 0)
    assert code == 0
    assert [line[0] for line in acknowledged[:-1]] == EXPECTED
    return int(acknowledged[-1][1])


def test_killed_at_ten_operations(driver: Driver, tmp_path: Path) -> None:
    chance = random.Random(4)
    tenth = operations(driver, tmp_path / "whole") // 10
    # One in each tenth of the case, so that each of its states is met.
    moments = [chance.randrange(tenth * n, tenth * (n + 1)) + 1 for n in range(10)]
    kills = [killed_and_finished(driver, made(tmp_path / str(at)), at) for at in moments]
    assert kills == [True] * 10


@pytest.mark.slow
def test_killed_at_each_operation(driver: Driver, tmp_path: Path) -> None:
    total = operations(driver, tmp_path / "whole")
    assert total > 100
    for at in range(1, total + 1):
        assert killed_and_finished(driver, made(tmp_path / str(at)), at)
        shutil.rmtree(tmp_path / str(at))


def ready(cwd: Path, state: str) -> CaseFolder:
    """A case that waits for its approval, or for its patch."""
    root = str(project(cwd))
    shown = diagnosis(diff=unified(BOTH))
    folder = find_case(root, open_case(root, "r1", f"{root}/runs/r1", shown).id)
    if state == "approved":
        approve(folder, diagnosis_hash(shown), diff_hash(shown), "tester", YES)
    return folder


STEPS = [
    ("diagnosed", ["reject", "--because", "seen before"], "hypotheses"),
    ("diagnosed", ["close", "--lesson", "measure"], "closed"),
    ("diagnosed", ["show"], "diagnosed"),
    ("approved", ["apply"], "fixed"),
    ("approved", ["reject", "--because", "seen before"], "hypotheses"),
]


def command_killed(cwd: Path, number: int, chance: random.Random) -> bool:
    """Kill one command at a random moment of its life, then give it again."""
    cwd.mkdir()
    before, words, after = STEPS[number % len(STEPS)]
    folder = ready(cwd, before)
    old = (Path(folder.path) / HISTORY).read_bytes()
    child = subprocess.Popen(
        [*COMMAND, "case", *words[:1], folder.id, *words[1:]],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    time.sleep(chance.uniform(0.05, 0.45))
    child.send_signal(signal.SIGKILL)
    said = child.communicate(timeout=30)[0].decode()
    assert (Path(folder.path) / HISTORY).read_bytes().startswith(old)
    state = folder.progress().case.state
    assert state in (before, after)
    if "next:" in said or "is closed" in said:
        assert state == after
    again = subprocess.run(
        [*COMMAND, "case", *words[:1], folder.id, *words[1:]],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == (2 if state == after and words[0] in ("reject", "apply") else again.returncode)
    assert folder.progress().case.state == after
    if words[0] == "close":
        assert (Path(folder.path) / "retrospective.md").exists()
        assert len(precedents.read(str(cwd))) == 1
    return child.returncode == -signal.SIGKILL


def test_commands_killed_at_random(tmp_path: Path) -> None:
    chance = random.Random(11)
    assert sum(command_killed(tmp_path / str(n), n, chance) for n in range(12)) >= 1


@pytest.mark.slow
def test_commands_killed_at_a_hundred_random_moments(tmp_path: Path) -> None:
    chance = random.Random(12)
    kills = sum(command_killed(tmp_path / str(n), n, chance) for n in range(100))
    assert kills >= 50
