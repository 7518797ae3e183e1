"""Nothing of firstcause opens a connection: in a namespace without a network all goes as with one, and nothing tries."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from trainings import LOG_OF_ZERO

# Started by every Python process below: what goes to an address is written down before it happens.
WATCH = """
import os, socket, sys

def _note(event, given):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        if event.startswith("socket.get") or given[0].family != socket.AF_UNIX:
            with open(os.environ["WATCHED"], "a") as file:
                file.write(f"{event} {given[1:]} {sys.argv}\\n")

sys.addaudithook(_note)
"""
WAYS = (
    ("run", "-o", "run", "python", "train.py"),
    ("diagnose", "run"),
    ("triage", "error.log"),
    ("check", "train.py", "--no-cache", "--jobs", "1"),
)
RUNNING = (
    ("explain", "log-of-zero"),
    ("report", "run", "-o", "run.html"),
    ("open", "run.html", "-o", "opened"),
    ("replay", "run"),
    ("trace", "run", "loss"),
    ("doctor",),
    ("diagnose", "run", "--yes"),
    ("check", "--command", "python train.py"),
    ("minimize", "run"),
)


@pytest.fixture
def apart() -> tuple[str, ...]:
    """The words that run a command in a network namespace of its own, in which not even this machine answers."""
    words = ("unshare", "-n") if os.geteuid() == 0 else ("unshare", "-rn")
    if shutil.which("unshare") is None or subprocess.run([*words, "true"], check=False).returncode != 0:
        pytest.skip("no network namespace can be made here")
    return words


@pytest.mark.parametrize(
    "ways", [WAYS, pytest.param(RUNNING, marks=pytest.mark.slow)], ids=["looking", "running"]
)
def test_without_a_network(ways: tuple[tuple[str, ...], ...], apart: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOG_OF_ZERO)
    (tmp_path / "error.log").write_text("RuntimeError: CUDA error: device-side assert triggered\n")
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    if ways is not WAYS:
        firstcause(tmp_path, apart, *WAYS[0])
    for way in ways:
        done = firstcause(tmp_path, apart, *way)
        assert done.returncode in (0, 1), f"{way}: {done.stderr}"
        assert "itself, not of your program" not in done.stderr
    assert watched(tmp_path) == ""


def test_the_watch_sees_a_connection(tmp_path: Path) -> None:
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    (tmp_path / "calls.py").write_text(
        "import socket\nsocket.socket(type=socket.SOCK_DGRAM).bind(('127.0.0.1', 0))\n"
    )
    done = firstcause(tmp_path, (), "run", "-o", "run", "python", "calls.py")
    assert done.returncode == 0
    assert "socket.bind" in watched(tmp_path)


def firstcause(folder: Path, apart: tuple[str, ...], *words: str) -> subprocess.CompletedProcess[str]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FIRSTCAUSE", "PYTEST"))}
    ours = {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(folder / "watch"),
        "WATCHED": str(folder / "watched"),
    }
    return subprocess.run(
        [*apart, sys.executable, "-m", "firstcause", *words],
        cwd=folder,
        env={**plain, **ours},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def watched(folder: Path) -> str:
    file = folder / "watched"
    return file.read_text() if file.exists() else ""
