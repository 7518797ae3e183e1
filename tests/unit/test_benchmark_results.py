"""The judge's table and the comparison with kept diagnoses say what the results say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PROGRAMS = {"cases": 3, "hit": 1, "missed": 1, "clean": 1, "precision": 1.0, "recall": 0.5, "lines": 1}
PROGRAMS |= {"fixes_offered": 2, "fixes_verified": 1, "median_seconds": 3.94}
CASES = [{"expected": "log-of-zero", "outcome": "missed"}, {"expected": "none", "outcome": "clean"}]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def loaded(name: str) -> ModuleType:
        pytest.importorskip("tomllib")
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return loaded


def test_each_mode_has_its_row(bench: Any) -> None:
    page = bench("judge_page").page(
        [
            ("plain", {"totals": {"programs": PROGRAMS}, "cases": CASES}),
            ("ours", {"totals": {"cases": 2, "hit": 2, "precision": "2/2", "recall": "2/2", "fixes": "2/2"}}),
            ("asked", {"totals": {"asks": {"asks": 9, "action": "9/9"}}}),
        ],
        "today",
    )
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert "| plain | programs | 3 | 1 | 0 | 0 | 0 | 1 | 1 | 0 | 0 | 1.0 | 0.5 | 1 | 1/2 | 3.9 |" in rows
    assert "| ours | programs | 2 | 2 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 2/2 | 2/2 |  | 2/2 |  |" in rows
    assert "| asked | asks | asks: 9, action: 9/9 |" in rows
    assert "| log-of-zero | 1 | 0 | 0 |" in rows


def test_only_what_changed_is_shown(bench: Any) -> None:
    replay = bench("replay")
    diagnosis = {
        "cause": "log-of-zero",
        "site": {"file": "train.py", "line": 3},
        "hypotheses": [{"cause": "log-of-zero", "status": "confirmed"}],
        "fix": {"diff": "-a\n+b\n"},
    }
    before = replay.told({"outcome": "hit", "diagnosis": diagnosis})
    assert replay.differences(before, before) == []
    missed = replay.told({"outcome": "missed", "diagnosis": {"status": "healthy"}})
    shown = replay.differences(before, missed)
    assert shown[:4] == [
        "outcome: hit -> missed",
        "cause: log-of-zero -> None",
        "line: train.py:3 -> None",
        "log-of-zero: confirmed -> absent",
    ]
    assert "    -+b" in shown
    assert replay.told({"outcome": "error", "note": "no JSON"})["cause"] is None
