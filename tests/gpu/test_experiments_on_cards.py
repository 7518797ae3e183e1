"""Experiments side by side, each on a card of its own, say what they say one after the other."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from on_card import COMMAND, call, line_of, recorded

pytestmark = pytest.mark.needs_card


def told(cwd: Path, *options: str) -> tuple[dict[str, Any], float]:
    began = time.monotonic()
    # Each experiment is a process that starts CUDA: seconds of which a minute holds few.
    words = ("diagnose", "run", "--yes", "--budget", "230s", "--json", "said.json")
    done = call(cwd, *COMMAND, *words, *options)
    assert (cwd / "said.json").exists(), done.stdout + done.stderr
    said: dict[str, Any] = json.loads((cwd / "said.json").read_text())
    return said, time.monotonic() - began


def test_the_same_is_established_on_all_cards(tmp_path: Path) -> None:
    recorded(tmp_path, "rate_too_high")
    here, seconds = told(tmp_path)
    apart, apart_seconds = told(tmp_path, "--executor", "cards")
    print(f"one after the other {seconds:.1f} s, side by side {apart_seconds:.1f} s")
    for said in (here, apart):
        assert (said["status"], said["cause"]) == ("established", "learning-rate-too-high"), said
        assert said["site"]["line"] == line_of("rate_too_high")
