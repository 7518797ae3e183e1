"""How often this command failed like this, and what changed since it went well, from the runs on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from firstcause.diagnose.history import characterised, same_way
from firstcause.record.folder import RunFolder
from firstcause.schema import SECTIONS, Diagnosis, Run, Site, Symptom

COMMAND = ("python", "train.py", "--lr", "1")
NAN = Symptom("nan", "6 of 6 gradients are not finite before the optimizer's step 9; loss nan", step=9)
INDEX = Symptom("exception", "IndexError: index 7 is out of range", Site("train.py", 3, "f", "x"))


def record(
    root: Path, number: int, symptoms: Sequence[Symptom] = (), command: Sequence[str] = COMMAND, **fields: Any
) -> tuple[RunFolder, Run]:
    folder = RunFolder(str(root / ".firstcause" / "runs" / f"run-{number}"))
    Path(folder.path).mkdir(parents=True)
    run = Run(
        f"run-{number}",
        tuple(command),
        str(root),
        f"2026-01-01T00:00:0{number}",
        "3.12",
        "linux",
        **{"seconds": 1.0, "exit_code": 0, "symptoms": tuple(symptoms), **fields},
    )
    folder.write_run(run)
    return folder, run


def told(folder: RunFolder, run: Run) -> Diagnosis:
    before = Diagnosis("not-established", run.symptoms[0], None, None, (), {SECTIONS[0]: "It failed."})
    return characterised(folder, run, before)


def test_the_only_run_of_a_command_says_nothing(tmp_path: Path) -> None:
    assert told(*record(tmp_path, 1, [NAN])).sections[SECTIONS[0]] == "It failed."


def test_failures_are_counted_by_their_way(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(
        tmp_path,
        2,
        [Symptom("nan", "the loss is not finite before the optimizer's step 4; loss inf", step=4)],
    )
    record(tmp_path, 3, [INDEX])
    record(tmp_path, 4, [NAN], command=("python", "other.py"))
    record(tmp_path, 5, [NAN], seconds=None)
    folder, run = record(tmp_path, 6, [NAN])
    record(tmp_path, 7)
    found = told(folder, run)
    text = found.sections[SECTIONS[0]]
    assert "Of 4 recorded runs of this command 2 failed in this way and 1 went well." in text
    assert "Since the last good run, run-1, nothing that is recorded has changed" in text
    assert found.symptom is not None
    assert found.symptom.intermittent


def test_the_last_good_run_may_have_had_other_arguments(tmp_path: Path) -> None:
    record(tmp_path, 1, command=("python", "train.py", "--lr", "0.1"))
    record(
        tmp_path, 2, command=("python", "train.py", "--lr", "0.2"), environment={"variables": {"OMP_X": "1"}}
    )
    found = told(*record(tmp_path, 3, [NAN]))
    text = " ".join(found.sections[SECTIONS[0]].split())
    assert (
        "Since the last good run, run-2, changed: the arguments (1 for 0.2), environment OMP_X (1 to None);"
        in text
    )
    assert "firstcause diff run-2 run-3" in text
    assert "Of " not in text
    assert found.symptom is not None
    assert not found.symptom.intermittent


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (Symptom("exception", "IndexError: index 9 is out of range", Site("train.py", 3, "f", "x")), True),
        (Symptom("exception", "IndexError: index 7 is out of range", Site("train.py", 4, "f", "x")), False),
        (Symptom("exception", "KeyError: 7", Site("train.py", 3, "f", "x")), False),
        (NAN, False),
    ],
)
def test_the_same_way_is_the_same_kind_at_the_same_line(other: Symptom, same: bool) -> None:
    assert same_way(INDEX, other) is same


def test_expectations_are_told_apart_by_what_was_expected() -> None:
    one, two, three = (
        Symptom("expectation", f"{text} was expected, and it was {x} (one value in the output)")
        for text, x in (("acc > 0.5", 0.1), ("acc > 0.5", 0.2), ("acc > 0.6", 0.2))
    )
    assert same_way(one, two)
    assert not same_way(one, three)
