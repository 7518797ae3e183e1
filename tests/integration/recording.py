"""Running firstcause in a folder with one program, for the tests of what is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from firstcause.record.folder import RunFolder

PROGRAMS = Path(__file__).parent / "programs"
COMMAND = (sys.executable, "-m", "firstcause")


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", **more}


def firstcause(cwd: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def record(
    cwd: Path, name: str, *options: str, words: tuple[str, ...] = (), **more: str
) -> subprocess.CompletedProcess[str]:
    cwd.mkdir(exist_ok=True)
    shutil.copy(PROGRAMS / f"{name}.py", cwd / "train.py")
    return firstcause(cwd, "run", *options, sys.executable, "train.py", *words, **more)


def the_run(cwd: Path) -> RunFolder:
    (path,) = (cwd / ".firstcause" / "runs").iterdir()
    return RunFolder(str(path))
