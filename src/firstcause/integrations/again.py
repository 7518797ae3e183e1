"""What failed where people work is run once more by firstcause and diagnosed, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any


def recorded(
    command: Sequence[str], cwd: str, environment: Mapping[str, str], limit: float | None = None
) -> dict[str, Any] | None:
    """The record of a command as JSON has it; None where it could not be recorded.

    Raises ``subprocess.TimeoutExpired`` where the command takes more than ``limit`` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="firstcause-") as place:
        said = os.path.join(place, "run.json")
        _firstcause(["run", "-q", "--json", said, *command], cwd, environment, limit)
        try:
            with open(said, encoding="utf-8") as file:
                run: dict[str, Any] = json.load(file)
        except (OSError, ValueError):
            return None
    return run


def diagnosed(run: str, cwd: str, environment: Mapping[str, str], budget: float, *options: str) -> str:
    """What the diagnosis of a run says; its experiments take at most ``budget`` seconds."""
    words = ["diagnose", run, "--yes", "--budget", f"{budget:g}s", *options]
    done = _firstcause(words, cwd, environment, None)
    return done.stdout.strip() or done.stderr.strip()


def _firstcause(
    words: Sequence[str], cwd: str, environment: Mapping[str, str], limit: float | None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause", *words],
        cwd=cwd,
        env={**environment, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit,
        check=False,
    )
