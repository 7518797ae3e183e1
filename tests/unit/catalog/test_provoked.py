"""What the installed torch says is recognised: every message is provoked, in one process."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .test_patterns import BOTH, seen

PROVOKED = Path(__file__).parent / "provoked.py"


def test_what_torch_says_is_its_pattern() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(PROVOKED)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) > 90
    assert [slug for slug, text in said if not text] == []
    wrong = {text: (slug, seen(text)) for slug, text in said if slug not in seen(text)}
    assert wrong == {}
    more = {
        text: (slug, seen(text)) for slug, text in said if not seen(text) <= {slug} | BOTH.get(slug, set())
    }
    assert more == {}
