"""What the starter of a command has set up, and what comes from outside: the command hears it as it would without us."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import processes
import pytest

WAITS = """
import signal, sys, time
names = ("SIGHUP", "SIGINT", "SIGCHLD", "SIGTERM", "SIGPIPE")
print("ready", [(n, str(signal.getsignal(getattr(signal, n)))) for n in names], sorted(signal.pthread_sigmask(0, [])))
sys.stdout.flush()
time.sleep(0.5)
print("end")
sys.exit(6)
"""
STARTERS = {
    "plain": "",
    "nohup": "trap '' HUP; ",
    "background": "trap '' INT; ",
    "no children": "trap '' CHLD; ",
}


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "waits.py").write_text(WAITS)
    return tmp_path


def words(recorded: bool) -> list[str]:
    ours = [*processes.FIRSTCAUSE, "run", "-q"] if recorded else []
    return [*ours, sys.executable, "waits.py"]


def heard(cwd: Path, recorded: bool, starter: str, sent: int | None) -> tuple[int, str]:
    process = subprocess.Popen(
        ["sh", "-c", f'{STARTERS[starter]}exec "$@"', "sh", *words(recorded)],
        cwd=cwd,
        env=processes.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        bufsize=0,
    )
    assert process.stdout is not None
    head = process.stdout.readline()
    time.sleep(0.1)
    if sent is not None:
        process.send_signal(sent)
    return process.wait(30), (head + process.stdout.read()).decode()


@pytest.mark.parametrize(
    ("starter", "sent"),
    [
        ("plain", None),
        ("plain", signal.SIGHUP),
        ("nohup", signal.SIGHUP),
        ("background", signal.SIGINT),
        ("no children", None),
        ("plain", signal.SIGRTMIN),
    ],
)
def test_as_without_us(starter: str, sent: int | None, cwd: Path) -> None:
    assert heard(cwd, True, starter, sent) == heard(cwd, False, starter, sent)


@pytest.mark.parametrize("recorded", [False, True])
def test_the_terminal_goes(recorded: bool, cwd: Path) -> None:
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(sys.executable, words(recorded), processes.environment())
    seen = b""
    while b"ready" not in seen:
        seen += os.read(master, 1000)
    time.sleep(0.2)
    os.close(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGHUP


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "2>&1 | true"])
def test_nobody_reads(streams: str, cwd: Path) -> None:
    (cwd / "quiet.py").write_text("import sys\nsys.exit(6)\n")
    line = f'("$@"; echo $? > code) {streams}'
    command = [*processes.FIRSTCAUSE, "run", sys.executable, "quiet.py"]
    subprocess.run(["sh", "-c", line, "sh", *command], cwd=cwd, env=processes.environment(), check=False)
    assert (cwd / "code").read_text() == "6\n"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_too_late_for_the_command(sent: int, cwd: Path) -> None:
    """While its ending is written down, a signal for the command ends nothing any more."""
    (cwd / "quick.py").write_text("import os, sys\nos.write(1, b'%d' % os.getppid())\nsys.exit(6)\n")
    process = subprocess.Popen(
        [*processes.FIRSTCAUSE, "run", sys.executable, "quick.py"],
        cwd=cwd,
        env=processes.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    # The first word of the summary comes after the command's end.
    process.stderr.read(1)
    process.send_signal(sent)
    process.communicate(timeout=30)
    assert process.returncode == 6
