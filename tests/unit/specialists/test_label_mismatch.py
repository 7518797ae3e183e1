"""A pairing is blamed only where the training learns with it mended, and never where a program parts pairs on purpose."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis, Symptom
from firstcause.source.project import Project
from firstcause.specialists import audits
from firstcause.specialists.data_loading import label_mismatch

PARTED = """
import torch
def load(x, y):
    order = torch.randperm(len(x))
    x = x[order]
    return x, y
"""
STILL, FALLING = [1.6] * 20, [1.6 * 0.8**n for n in range(20)]


def ran(losses: list[float], ended: str = "program") -> Ran:
    return Ran("one", ended, tuple({"loss": x} for x in losses))


class Bench:
    """A lab whose rewritten programs give what they are told to, and that remembers what was asked for."""

    def __init__(self, control: Ran, *answers: Ran) -> None:
        self.control, self.answers, self.asked = control, list(answers), [[{"text": ""}]][:0]

    def horizon(self, least: int) -> int:
        return least

    def rewritten(self, arm: Any, steps: int, statements: list[dict[str, Any]]) -> Ran:
        self.asked.append(statements)
        return self.answers.pop(0)


def examine(text: str, bench: Bench, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (folder / "train.py").write_text(text)
    memory: dict[str, Any] = {}

    def once(key: str, work: Any) -> Any:
        if key not in memory:
            memory[key] = work()
        return memory[key]

    monkeypatch.setattr(audits, "audit", lambda _: bench.control)
    return SimpleNamespace(
        project=Project.of_script(str(folder / "train.py")),
        lab=bench,
        memory=memory,
        symptom=Symptom("invariant", ""),
        once=once,
    )


def settled(examination: Any) -> Hypothesis:
    return label_mismatch.settle(Hypothesis(label_mismatch.CAUSE, None, 0), examination)


def test_it_is_confirmed_by_the_first_way_that_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(ran(STILL), ran(STILL), ran(FALLING))
    examination = examine(PARTED, bench, tmp_path, monkeypatch)
    verdict = settled(examination)
    assert verdict.status == "confirmed"
    assert verdict.site is not None
    assert verdict.site.line == 5
    assert [s["text"] for asked in bench.asked for s in asked] == ["x = x[order]\ny = y[order]", "x = x"]
    assert label_mismatch.facts(examination)["edits"][0]["text"] == "x = x"


@pytest.mark.parametrize(
    "answer", [ran(STILL), ran([1.5] * 20), ran([], "exception"), ran(FALLING[:3]), ran([float("nan")] * 20)]
)
def test_it_is_not_confirmed_without_a_clear_gain(
    answer: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examination = examine(PARTED, Bench(ran(STILL), answer, answer), tmp_path, monkeypatch)
    assert settled(examination).status == "inconclusive"
    assert label_mismatch.facts(examination) == {}


def test_a_training_that_learns_its_wrong_pairs_by_heart_is_judged_on_its_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly = [1.6 * (1 - n / 20) for n in range(20)] + [0.0001] * 5
    bench = Bench(ran(slowly), ran([*FALLING, *[0.0001] * 5]))
    assert settled(examine(PARTED, bench, tmp_path, monkeypatch)).status == "confirmed"


@pytest.mark.parametrize(
    "said", ["def permutation_test(x): ...", "class RandomLabels: ...", "def forecast(x): ..."]
)
def test_a_program_that_says_so_parts_them_on_purpose(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(ran(STILL), ran(FALLING))
    examination = examine(f"{PARTED}\n{said}\n", bench, tmp_path, monkeypatch)
    assert not label_mismatch.propose(examination)
    assert settled(examination).status == "inconclusive"
    assert bench.asked == []
