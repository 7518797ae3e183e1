"""doctor: what it says is what is so, here and where something is made to be missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from recording import environment, firstcause

from firstcause.record.doctor.checks import interpreter_checks

NO_TORCH = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == "torch" or name.startswith("torch."):
            raise AssertionError("the doctor itself imports " + name)
sys.meta_path.insert(0, Refuse())
from firstcause.cli.main import main
code = main(["doctor"])
assert "torch" not in sys.modules and "numpy" not in sys.modules
sys.exit(code)
"""


def checks(cwd: Path, *words: str, **more: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = firstcause(cwd, *words, "doctor", "--json", "-", **more)
    assert done.stderr == ""
    return done.returncode, {one["name"]: one for one in json.loads(done.stdout)}


def test_here_it_works_and_the_doctor_imports_no_torch(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_TORCH],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    names = [
        "system",
        "python",
        "start-up hook",
        "torch",
        "replay",
        "exactness",
        "landlock",
        "memory",
        "cuda",
    ]
    assert [line[2:17].strip() for line in lines][:9] == names
    assert len(lines) == 15
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    fake = tmp_path / "env" / "bin" / "python"
    fake.parent.mkdir(parents=True)
    # No site, so neither the hook nor torch.
    fake.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    fake.chmod(0o755)
    (tmp_path / "pyproject.toml").write_text("[tool.firstcause]\nkeep-runs = -1\n")
    code, found = checks(tmp_path, VIRTUAL_ENV=str(tmp_path / "env"))
    assert code == 1
    assert [n for n, one in found.items() if one["status"] == "missing"] == [
        "start-up hook",
        "torch",
        "settings",
    ]
    assert "No module named 'torch'" in found["torch"]["text"]
    assert "keep-runs is -1" in found["settings"]["text"]
    unhelped = [n for n, one in found.items() if one["status"] != "works" and not one["hint"]]
    assert unhelped == []


def test_limits_and_a_clock_set_back_are_seen(tmp_path: Path) -> None:
    run = tmp_path / ".firstcause" / "runs" / "29990101-000000-a-0000"
    run.mkdir(parents=True)
    limited = ["sh", "-c", f"ulimit -f 100000; exec {sys.executable} -m firstcause doctor --json -"]
    done = subprocess.run(
        limited, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    found = {one["name"]: one for one in json.loads(done.stdout)}
    assert done.returncode == 0
    assert "ulimit -f" in found["writing"]["text"]
    assert "the clock was set back" in found["clock"]["text"]
    assert "1 of 1 runs cannot be read" in found["runs"]["text"]
    assert found["exactness"]["status"] == ("works" if os.environ.get("OMP_NUM_THREADS", "1") else "limited")


def test_a_child_that_tells_little_is_no_error() -> None:
    (one,) = interpreter_checks({"python": "/no/python", "why": "no such file"})
    assert (one.status, "no such file" in one.text) == ("missing", True)
    told = list(interpreter_checks({"python": "p", "version": "3.9.1", "why": "killed"}))
    assert [(c.name, c.status) for c in told] == [
        ("python", "missing"),
        ("start-up hook", "missing"),
        ("torch", "missing"),
    ]
    seen = {
        "python": "p",
        "version": "3.12.1",
        "hook": True,
        "torch": "2.9",
        "cuda": "13",
        "threads": 8,
        "why": "signal",
    }
    assert [c.status for c in interpreter_checks(seen)] == ["works", "works", "works", "limited", "limited"]
