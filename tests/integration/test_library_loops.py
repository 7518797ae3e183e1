"""Loops in libraries get the same depth as a plain loop: failing steps are replayed exactly, and diagnosed."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.record.folder import RunFolder

PROGRAMS = Path(__file__).parent / "programs"

# program: (library, cause, line of the fix, part of the unit's file, step)
EXPECTED = {
    "lightning_loop": ("lightning", "log-of-zero", 23, "training_epoch_loop.py", 8),
    "lightning_error": ("lightning", "embedding-index-out-of-range", 7, "training_epoch_loop.py", 9),
    "lightning_manual": ("lightning", "log-of-zero", 20, "train.py", 11),
    "hf_trainer": ("transformers", "log-of-zero", 18, "trainer.py", 4),
    "hf_error": ("transformers", "embedding-index-out-of-range", 14, "trainer.py", 1),
    "accelerate_accumulation": ("accelerate", "log-of-zero", 16, "train.py", 4),
    "accelerate_error": ("accelerate", "embedding-index-out-of-range", 6, "train.py", 9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_library_loop(name: str, tmp_path: Path) -> None:
    library, cause, line, unit, step = EXPECTED[name]
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    shutil.copy(PROGRAMS / f"{name}.py", tmp_path / "train.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def firstcause(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "firstcause", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )

    firstcause("run", "-q", sys.executable, "train.py")
    run = RunFolder(str(next((tmp_path / ".firstcause" / "runs").iterdir())))
    (failure, *_) = run.failures()
    assert failure["step"] == step
    assert failure["unit"]["file"].endswith(unit)
    assert failure["replay"]["exact"], failure["replay"]["why"]
    again = firstcause("replay")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "replayed exactly in a fresh process" in again.stdout
    found = tmp_path / "found.json"
    done = firstcause("diagnose", "--yes", "--json", str(found))
    diagnosis = json.loads(found.read_text())
    assert (diagnosis["cause"], diagnosis["site"]["line"]) == (cause, line), done.stdout
