"""With --json - standard output holds one JSON value and nothing else; a damaged case hides no other."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.case import readable_cases
from firstcause.cli import determinism, minimize, profile, replay, resume_check
from firstcause.cli.main import main
from firstcause.diagnose.speed import Profile
from firstcause.lab.follow.resumed import Resumption
from firstcause.lab.follow.unequal import Determinism
from firstcause.minimize.reproduce import Reproduction
from firstcause.record.folder import HOME, RunFolder

FAILURE = {"step": 3, "kind": "nan", "name": "loss"}
FOLDER = SimpleNamespace(failures=lambda: [FAILURE], run=lambda: SimpleNamespace(symptoms=()))
REPLAYED = {"exact": False, "why": "the loss differs"}


def giving(value: Any) -> Any:
    return lambda *_, **__: value


@pytest.mark.parametrize(
    ("module", "patched", "words", "key"),
    [
        (determinism, {"check": Determinism(steps=4)}, ["determinism", "python", "t.py"], "steps"),
        (resume_check, {"check": Resumption(steps=4)}, ["resume-check", "python", "t.py"], "steps"),
        (profile, {"_recorded": FOLDER, "Lab": None, "profile": Profile(why="no step")}, ["profile", "x"], "why"),
        (minimize, {"_meant": FOLDER, "reproduce": Reproduction("x\n", 9, 1, 3, "nan")}, ["minimize"], "left"),
        (replay, {"replay_fresh": REPLAYED, "_seen": ()}, ["replay"], "why"),
    ],
)  # fmt: skip
def test_nothing_but_json(
    module: Any,
    patched: dict[str, Any],
    words: list[str],
    key: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in patched.items():
        monkeypatch.setattr(module, name, giving(value))
    monkeypatch.setattr("firstcause.record.supervise.afterwards.found", giving(FOLDER))
    main([words[0], "--json", "-", *words[1:]])
    assert key in json.loads(capsys.readouterr().out)


def test_a_damaged_case_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    case = tmp_path / HOME / "cases" / "damaged"
    case.mkdir(parents=True)
    (case / "history.jsonl").write_text("not json\n")
    assert list(readable_cases(str(tmp_path / HOME))) == []
    assert minimize._broken(RunFolder(str(tmp_path / HOME / "runs" / "r1"))) == ""
