"""Running a program on the card, recorded and not, and what is said of it after its death."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"
DEVICE = os.environ.get("FIRSTCAUSE_GPU_TESTS", "cuda")
COMMAND = (sys.executable, "-m", "firstcause")
SECONDS = 240


def environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTCAUSE")}
    # Without a card, what is deferred there is deferred here.
    return (
        kept
        | {"NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
        | ({"FIRSTCAUSE_DEFERRED": "cpu"} if DEVICE == "cpu" else {})
    )


def call(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def placed(cwd: Path, name: str) -> Path:
    cwd.mkdir(exist_ok=True)
    return Path(shutil.copy(PROGRAMS / f"{name}.py", cwd / "train.py"))


def recorded(cwd: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The program under ``firstcause run``; its record is the folder ``run``."""
    placed(cwd, name)
    return call(cwd, *COMMAND, "run", "-q", "-o", "run", sys.executable, "train.py", DEVICE, *words)


def plain(cwd: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    placed(cwd, name)
    return call(cwd, sys.executable, "train.py", DEVICE, *words)


def diagnosed(cwd: Path) -> dict[str, Any]:
    """What ``firstcause diagnose`` says of the record."""
    done = call(cwd, *COMMAND, "diagnose", "run", "--yes", "--json", "said.json")
    assert (cwd / "said.json").exists(), done.stdout + done.stderr
    said: dict[str, Any] = json.loads((cwd / "said.json").read_text())
    return said | {"printed": done.stdout + done.stderr}


def journal(cwd: Path) -> str:
    """The events of the record, one a line, for the message of an assertion."""
    from firstcause.record.folder import RunFolder

    readings = RunFolder(str(cwd / "run")).journals().values()
    return "\n".join(str(e) for r in readings for e in r.events)


def line_of(name: str, mark: str = "# here") -> int:
    """The line of a program that is to be named."""
    lines = (PROGRAMS / f"{name}.py").read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.rstrip().endswith(mark))
