"""A folder of programs, and what ``forked.py`` tells of them all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def written(root: Path, programs: Mapping[str, str]) -> Path:
    """Each program as ``train.py`` in a folder of its name."""
    for name, text in programs.items():
        (root / name).mkdir()
        (root / name / "train.py").write_text(text)
    return root


def told_of(root: Path) -> dict[str, list[dict]]:
    """What is told of each program, by name."""
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "forked.py"), str(root)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)
