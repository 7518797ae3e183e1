"""A verb that records a program first takes that program's run, and runs it by the user's own Python."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from recording import environment, firstcause

from firstcause.errors import RecordError
from firstcause.record.supervise import anew

FAILS = "import torch\n\ntorch.zeros(2) @ torch.zeros(3)\n"


def test_a_recording_that_left_nothing_is_not_taken_for_the_run_before(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILS)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    with pytest.raises(RecordError) as refused:
        anew.run_of(str(tmp_path / "run.json"), str(tmp_path))
    assert "could not be recorded" in refused.value.message
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(RecordError):
        anew.run_of(str(tmp_path / "run.json"), str(tmp_path))


def test_a_script_is_run_where_no_python_on_the_path_has_torch(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FAILS)
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 9\n")
    other.chmod(0o755)
    bare = environment(PATH=f"{other.parent}:/usr/bin:/bin")
    bare.pop("VIRTUAL_ENV", None)
    command = [sys.executable, "-m", "firstcause", "minimize", "train.py"]
    subprocess.run(command, cwd=tmp_path, env=bare, capture_output=True, check=False, timeout=180)
    (kept,) = tmp_path.glob(".firstcause/runs/*/run.json")
    (symptom,) = json.loads(kept.read_text())["symptoms"]
    assert symptom["kind"] == "exception"
    assert "size" in symptom["message"] or "shape" in symptom["message"]
