"""The kept cases are diagnosed again, and each answer is the one that is kept: a change of the engine is seen here first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 11), reason="the scorer reads TOML by the standard library")
def test_no_answer_differs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "replay.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "0 of " in done.stdout.splitlines()[-1]
