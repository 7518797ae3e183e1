"""What a person sees at a terminal while a command works, and what nobody sees elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from view.projects import COLUMNS, recorded, row

from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal
from firstcause.report.spans import span

WORKING = """
import sys, time
from firstcause.cli import progress
progress.AFTER, progress.EVERY = 0.05, 0.05
with progress.progress("diagnose", 90, stage=lambda: "experiment 2: a tenth of the learning rate") as shown:
    time.sleep(0.4)
    with shown.silent():
        print("Run it? [y/N]", flush=True)
        time.sleep(0.3)
print("done")
"""


def at_a_terminal(words: list[str], cwd: Path) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, cwd=cwd, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    said = b""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            part = os.read(ours, 4096)
        except OSError:
            # The other side has ended.
            break
        if not part:
            break
        said += part
    os.close(ours)
    process.wait(10)
    return said.decode()


def test_progress_with_the_time_left_at_most(tmp_path: Path) -> None:
    said = at_a_terminal([sys.executable, "-c", WORKING], tmp_path)
    assert "\r\x1b[2Kdiagnose: 0 s · at most 90 s left" not in said
    assert "\r\x1b[2Kdiagnose: 0 s · at most 1 min 30 s left · experiment 2: a tenth of the learnin" in said
    before, _, after = said.partition("Run it? [y/N]")
    # Away while something is asked, and at the end.
    assert before.endswith("\r\x1b[2K")
    assert after.startswith("\r\ndone") or after.partition("done")[0].endswith("\r\x1b[2K")
    assert "at most" not in after.partition("\r\n")[0]


def test_nothing_is_written_where_nobody_looks(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKING], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("Run it? [y/N]\ndone\n", "")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-3, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (700, "11 min"), (7260, "2 h 1 min"), (7200, "2 h")],
)
def test_times_are_read_at_a_glance(seconds: float, said: str) -> None:
    assert span(seconds) == said


@pytest.mark.parametrize("given", [["--steps", "1120"], []], ids=["told", "from-before"])
def test_watch_tells_the_time_left(given: list[str], tmp_path: Path) -> None:
    recorded(tmp_path)
    runs = tmp_path / ".firstcause" / "runs"
    plain = (runs / "r1" / "run.json").read_text()
    # The run of before ended well after 120 steps, and is the same command's.
    before = RunFolder(str(runs / "r1"))
    data = before.read_json("run.json")
    before.write_json("run.json", data | {"symptoms": [], "exit_code": 0})
    going = RunFolder(str(runs / "r2"))
    (runs / "r2").mkdir()
    (runs / "r2" / "run.json").write_text(plain)
    going.write_json("run.json", data | {"id": "r2", "symptoms": [], "exit_code": None, "seconds": None})
    journal = Journal(going.file("rank-0-9.journal"))
    for step in range(20):
        journal.metrics(step, COLUMNS, row(step))
    words = [sys.executable, "-m", "firstcause", "watch", "r2", *given]
    with going.held():
        ours, theirs = pty.openpty()
        process = subprocess.Popen(words, cwd=tmp_path, stdout=theirs, stderr=theirs)
        os.close(theirs)
        said = b""
        until = time.monotonic() + 30
        while b"left to step" not in said and time.monotonic() < until:
            said += os.read(ours, 4096)
        process.kill()
        process.wait(10)
        os.close(ours)
    left, steps = (22, 1120) if given else (2, 120)
    assert re.search(rf"step 19 · .* · 0.02 s a step · {left} s left to step {steps}\r\n", said.decode()), (
        said
    )
