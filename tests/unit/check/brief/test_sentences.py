"""Sentences whose wishes are known: the figures that the grammar has to reach, and no trap that it falls into."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
_SPEC = importlib.util.spec_from_file_location("brief_score", HERE.parents[3] / "benchmarks/brief/score.py")
assert _SPEC is not None
assert _SPEC.loader is not None
scorer = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(scorer)


def entries(name: str) -> list[dict[str, Any]]:
    # Plainly: a message's line breaks are a part of it.
    return tomllib.loads((HERE / "sentences" / name).read_text(encoding="utf-8"))["sentence"]


@pytest.mark.parametrize("name", sorted(p.name for p in (HERE / "sentences").glob("*.toml")))
def test_precision_recall_and_traps(name: str) -> None:
    totals, misses = scorer.score(entries(name))
    assert totals["precision"] >= 0.97, misses
    assert totals["recall"] >= 0.95, misses
    clean, traps = totals["traps_clean"].split("/")
    assert clean == traps, misses


def test_the_scorer_sees_what_is_wrong_and_what_is_missing() -> None:
    wrong = [{"id": "a", "text": "lr 1e-4", "expect": [{"key": "learning_rate", "value": 1e-3}]}]
    totals, misses = scorer.score(wrong)
    assert (totals["precision"], totals["recall"]) == (0.0, 0.0)
    assert len(misses) == 2
