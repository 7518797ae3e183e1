from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import pytest

from firstcause.record import sources
from firstcause.record.compare import Change, Comparison, compare
from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal
from firstcause.schema import Run, Symptom

BATCH = {"name": "x", "shape": [4, 2], "dtype": "float32", "mean": 0.5, "std": 1.0, "not_finite": 0}


def run(
    root: Path, name: str, losses: list[float], code: str = "a = 1\n", tensors: Any = (BATCH,), **fields: Any
) -> RunFolder:
    path, project = root / name, root / "project"
    path.mkdir(parents=True)
    project.mkdir(exist_ok=True)
    (project / "train.py").write_text(code)
    hashes = {str(project / "train.py"): hashlib.sha256(code.encode()).hexdigest()}
    folder = RunFolder(str(path))
    sources.keep(folder, hashes)
    journal = Journal(str(path / "rank-0-1.journal"))
    journal.event("start", python="3.12.1")
    if losses:
        journal.event("first-step", versions={"torch": "2.13"}, seed=3, tensors=list(tensors))
    for step, loss in enumerate(losses):
        journal.metrics(step, ("loss", "lr"), [loss, 0.1])
    command = fields.pop("command", ("python", "train.py"))
    known: dict[str, Any] = {"sources": hashes, "exit_code": 0, "seconds": 1.0}
    folder.write_run(Run(name, command, str(project), "t", "3.12", "linux", **(known | fields)))
    return folder


def groups(comparison: Comparison) -> dict[str, list[Change]]:
    result: dict[str, list[Change]] = {}
    for change in comparison.changes:
        result.setdefault(change.group, []).append(change)
    return result


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    one, two = run(tmp_path, "1", [1.0, math.nan]), run(tmp_path, "2", [1.0, math.nan])
    found = compare(one, two)
    assert (found.before, found.after, found.changes) == ("1", "2", ())
    assert set(found.same) == {
        "arguments",
        "code",
        "versions",
        "environment",
        "seed",
        "data",
        "losses",
        "end",
    }
    assert found.unknown == {"git": "one of them ran outside of git"}


def test_each_kind_of_difference(tmp_path: Path) -> None:
    one = run(tmp_path, "1", [1.0, 0.5, 0.25], git_revision="a", git_dirty=False)
    two = run(
        tmp_path,
        "2",
        [1.0, 0.75],
        code="a = 2\n",
        tensors=({**BATCH, "mean": 0.6},),
        command=("python", "train.py", "--lr", "1"),
        environment={"variables": {"CUDA_VISIBLE_DEVICES": "1"}},
        symptoms=(Symptom("nan", "the loss is not finite"),),
        git_revision="b",
        git_dirty=True,
    )
    found = groups(compare(one, two))
    assert found["arguments"][0].after == ["python", "train.py", "--lr", "1"]
    (code,) = found["code"]
    assert (code.name, code.note) == ("train.py", "")
    assert code.diff.split("\n")[-2:] == ["-a = 1", "+a = 2"]
    assert [(c.name, c.before, c.after) for c in found["environment"]] == [
        ("CUDA_VISIBLE_DEVICES", None, "1")
    ]
    assert [c.name for c in found["git"]] == ["revision", "differs from it"]
    assert [(c.name, c.after["mean"]) for c in found["data"]] == [("x", 0.6)]
    (losses,) = found["losses"]
    assert (losses.name, losses.before, losses.after) == ("step 1", 0.5, 0.75)
    assert losses.note == "the 1 before are equal bit for bit"
    assert [c.name for c in found["end"]] == ["symptoms"]
    assert {c.group for c in compare(one, two).causes()} == {
        "arguments",
        "code",
        "environment",
        "git",
        "data",
    }


def test_a_shorter_run_parts_where_it_ends(tmp_path: Path) -> None:
    (losses,) = groups(compare(run(tmp_path, "1", [1.0, 2.0]), run(tmp_path, "2", [1.0])))["losses"]
    assert (losses.name, losses.before, losses.after) == ("steps", 2, 1)


def test_rounding_is_no_other_data(tmp_path: Path) -> None:
    other = {**BATCH, "mean": 0.5 + 1e-9}
    assert "data" in compare(run(tmp_path, "1", [1.0]), run(tmp_path, "2", [1.0], tensors=(other,))).same


def test_what_was_not_recorded_is_said(tmp_path: Path) -> None:
    found = compare(run(tmp_path, "1", []), run(tmp_path, "2", [1.0], sources=None))
    assert found.unknown["data"] == found.unknown["seed"] == "1 recorded no step"
    assert found.unknown["losses"] == "one of them recorded no step"
    assert found.unknown["code"] == "no source file of one of them was observed"


def test_a_text_that_was_too_large_is_told_by_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LARGEST", 5)
    (code,) = groups(compare(run(tmp_path, "1", [1.0]), run(tmp_path, "2", [1.0], code="a = 2\n")))["code"]
    assert code.diff == ""
    assert "was not kept" in code.note


def test_small_texts_are_kept_first_and_only_as_many_as_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST", 10)
    hashes = {}
    for size in (7, 2, 3, 40):
        path = tmp_path / f"{size}.py"
        path.write_text("x" * size)
        hashes[str(path)] = str(size)
    folder = RunFolder(str(tmp_path / "run"))
    sources.keep(folder, hashes | {str(tmp_path / "gone.py"): "gone"})
    kept = {name: sources.text_of(folder, name) for name in ("2", "3", "7", "40", "gone")}
    assert kept == {"2": "xx", "3": "xxx", "7": None, "40": None, "gone": None}
