"""Which place cuts a part off from the loss: undone where that is possible, else by what the loss depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.record.folder import RunFolder
from firstcause.schema import Run, Symptom
from firstcause.specialists.cut_parts import settle
from firstcause.specialists.examination import Examination

PART = ["net.encoder.weight", "net.encoder.bias"]
FALLING = [1.0 - 0.001 * i for i in range(60)]


def place(line: int) -> dict[str, Any]:
    return {"file": "/w/train.py", "line": line, "function": "forward", "text": ""}


def cut(line: int, kind: str, reached: int = 2) -> dict[str, Any]:
    return {"site": place(line), "kind": kind, "training": True, "cut_off": reached}


def ran(
    name: str, losses: list[float], without: list[str], *cuts: dict[str, Any], ended: str = "steps"
) -> Ran:
    facts = {"held": 4, "without_gradient": without, "cuts": list(cuts)}
    return Ran(name, ended, tuple({"loss": x} for x in losses), facts=facts)


class Answers:
    """A lab whose arms end as told: by the line that is undone, ``moved``, or the audit itself late in the run."""

    def __init__(self, undone: dict[int, Ran], moved: Ran | None = None, late: Ran | None = None) -> None:
        self.undone, self.moved, self.late = undone, moved, late

    def horizon(self, least: int) -> int:
        return least

    def from_start(self, arms: list[Arm], steps: int, after: int = 0) -> dict[str, Ran]:
        return {a.name: self._answer(a) for a in arms}

    def _answer(self, arm: Arm) -> Ran:
        lines = [line for _, line in arm.settings.get("undone") or ()]
        found = self.undone[lines[0]] if lines else self.moved if "moved" in arm.settings else self.late
        assert found is not None
        return found


def settled(tmp_path: Path, found: Ran, answers: Answers, steps: int = 0) -> tuple[str, int | None]:
    run = Run("r", ("python", "train.py"), "/w", "", "3.11", "linux", seconds=1.0)
    examination = Examination(RunFolder(str(tmp_path)), run, Symptom("invariant", ""), None, answers)  # type: ignore[arg-type]
    examination.rows = [{"step": i} for i in range(steps)]
    hypothesis = settle("detached-encoder", examination, found)
    return hypothesis.status, hypothesis.site.line if hypothesis.site else None


def trains() -> Ran:
    return ran("undone", [1.0 - 0.01 * i for i in range(60)], [])


def refused() -> Ran:
    return ran("undone", [], PART, ended="exception")


def test_of_two_cuts_the_one_whose_undoing_trains_the_part_is_named(tmp_path: Path) -> None:
    found = ran("audit", FALLING, PART, cut(4, "detach"), cut(9, "detach"))

    assert settled(tmp_path, found, Answers({4: trains(), 9: found})) == ("confirmed", 4)


def test_two_cuts_that_each_train_it_are_not_told_apart(tmp_path: Path) -> None:
    found = ran("audit", FALLING, PART, cut(4, "detach"), cut(9, "detach"))

    assert settled(tmp_path, found, Answers({4: trains(), 9: trains()})) == ("inconclusive", None)


def test_where_the_cut_cannot_be_undone_the_loss_must_depend_on_the_part(tmp_path: Path) -> None:
    found = ran("audit", FALLING, PART, cut(4, "detach"))
    moved = ran("moved", [1.0, 1.3, *FALLING[2:]], PART)

    assert settled(tmp_path, found, Answers({4: refused()}, moved)) == ("confirmed", 4)
    assert settled(tmp_path, found, Answers({4: refused()}, found)) == ("inconclusive", None)


@pytest.mark.parametrize("first", [1.5, float("nan")])
def test_a_first_step_that_differs_already_shows_nothing(tmp_path: Path, first: float) -> None:
    found = ran("audit", FALLING, PART, cut(4, "argmax"))
    moved = ran("moved", [first, 1.3, *FALLING[2:]], PART)

    assert settled(tmp_path, found, Answers({}, moved)) == ("inconclusive", None)


def test_a_cut_that_only_some_of_the_part_leads_to_does_not_explain_the_rest(tmp_path: Path) -> None:
    found = ran("audit", FALLING, PART, cut(4, "tolist", reached=1))
    moved = ran("moved", [1.0, 1.3, *FALLING[2:]], PART)

    assert settled(tmp_path, found, Answers({}, moved)) == ("inconclusive", None)


def test_a_part_that_has_gradients_later_is_held_back_on_purpose(tmp_path: Path) -> None:
    found = ran("audit", FALLING, PART, cut(4, "detach"))
    answers = Answers({4: trains()}, late=ran("audit", FALLING, []))

    assert settled(tmp_path, found, answers, steps=300) == ("inconclusive", None)
    answers.late = found
    assert settled(tmp_path, found, answers, steps=300) == ("confirmed", 4)
