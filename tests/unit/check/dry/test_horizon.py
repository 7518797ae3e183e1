"""Loops end early, and what a program does behind them, by hand, or every so many passes, is done all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check.dry.commands import Command
from firstcause.check.dry.process import run_dry
from tests.unit.check.dry.dry_folder import told_of, written
from tests.unit.check.dry.horizon_programs import BY_HAND, DUE, GENERATES, HEAD, NOT_BY_HAND, TOO_SHORT

# The model that writes is in a library.
WRITES = """
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site-packages"))
import torch
from writing import Writer
writer = Writer()
writer.generate(torch.randn(2, 8), 1_000_000)
assert 3 <= writer.passes < 1_000_000
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    programs = BY_HAND | DUE | {"not_by_hand": NOT_BY_HAND}
    root = written(
        tmp_path_factory.mktemp("horizon"),
        {name: HEAD + text for name, text in programs.items()} | {"generates": WRITES},
    )
    library = root / "generates" / "site-packages"
    library.mkdir()
    (library / "writing.py").write_text(GENERATES)
    return told_of(root)


@pytest.mark.parametrize("name", BY_HAND)
def test_a_step_by_hand_is_a_step(told, name: str) -> None:
    end = told[name][-1]
    assert end["outcome"] == "finished", end
    assert 7 <= end["steps"] < 40


def test_an_average_a_limit_and_a_new_model_are_no_steps(told) -> None:
    assert told["not_by_hand"][-1]["steps"] == 4


@pytest.mark.parametrize("name", DUE)
def test_what_is_due_later_is_due_once(told, name: str) -> None:
    assert told[name][-1]["outcome"] == "finished", told[name]
    assert told[name][-1]["steps"] < 60


def test_a_librarys_loop_over_tokens_is_shortened(told) -> None:
    assert told["generates"][-1]["outcome"] == "finished", told["generates"]


@pytest.mark.parametrize("name", TOO_SHORT)
def test_what_a_short_loop_did_not_come_to_is_come_to(tmp_path: Path, name: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(HEAD + TOO_SHORT[name])
    run = run_dry(Command(str(script), (), str(tmp_path)), str(tmp_path))
    assert run.end["outcome"] == "finished", run.end
    assert run.findings == []


def test_the_end_of_the_time_waits_for_torchs_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from firstcause.check.dry.child import clock

    clock.look()
    monkeypatch.setattr(clock, "over", True)
    looked = []

    def run() -> None:
        with clock.engine():
            clock.look()
            looked.append(True)

    with pytest.raises(clock.TimeUp):
        run()
    assert looked
    with pytest.raises(clock.TimeUp):
        clock.look()
