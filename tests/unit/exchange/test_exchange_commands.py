"""`export` and `import` as they are typed, and what reads an imported run."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from view.projects import STEPS as RECORDED
from view.projects import recorded, row

from exchange.histories import BAD, STEPS, events, loss, offline_run, trainer_state
from firstcause.cli.main import main
from firstcause.record.folder import RunFolder, find_run
from firstcause.record.journal import Journal, steps_of
from firstcause.view.project import Project


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def losses(run: RunFolder) -> list[float]:
    readings = [r for r in run.journals().values() if "loss" in r.rows[0].columns]
    return [s["loss"] for s in steps_of(readings)]


def test_an_export_is_made_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(folder)
    assert main(["export", "r1", "--to", "out"]) == 0
    assert f"r1.csv: {RECORDED} rows" in capsys.readouterr().out
    made = folder / "out" / "r1.csv"
    assert len(made.read_text().splitlines()) == RECORDED + 1
    assert made.stat().st_mode & 0o777 == 0o600
    assert main(["export", "r1", "--to", "out"]) == 2
    assert "exists" in capsys.readouterr().err
    assert main(["export", "r1", "--to", "out", "-f"]) == 0
    assert [p.name for p in (folder / "out").iterdir()] == ["r1.csv"]
    assert main(["export", "r1", "--to", "out/r1.csv"]) == 2
    assert "next: choose another folder with --to" in capsys.readouterr().err


def test_parquet_holds_every_row(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    run = recorded(folder, ranks=2)
    Journal(run.file("rank-2-9.journal")).metrics(7, ("loss", "step"), [0.5, 2.0])
    assert main(["export", "r1", "--format", "parquet"]) == 0
    table = parquet.read_table("r1.parquet")
    assert table.num_rows == 2 * RECORDED + 1
    assert table.to_pylist()[-1] == {
        **dict.fromkeys(table.column_names),
        "process": "rank-2-9",
        "step": 7,
        "loss": 0.5,
        "logged step": 2.0,
    }
    assert table.schema.metadata[b"firstcause.run"] == b"r1"
    assert table["process"].to_pylist()[RECORDED] == "rank-1-101"
    assert table["step"].to_pylist()[:3] == [0, 1, 2]
    assert table["loss"][1].as_py() == pytest.approx(row(1)[0], rel=1e-6)
    assert math.isnan(table["loss"][RECORDED - 1].as_py())


def test_tensorboard_and_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tensorboard")
    recorded(folder)
    assert main(["export", "r1", "--format", "tensorboard", "--to", "out"]) == 0
    capsys.readouterr()
    assert main(["import", "out/r1"]) == 0
    said = capsys.readouterr().out
    assert f"6 series over {RECORDED} steps, TensorBoard" in said
    there, here = losses(find_run("r1", ".")), losses(find_run("last", "."))
    assert there[:100] == here[:100]
    assert math.isnan(here[-1])


def taken(kind: str, make: Callable[[Path], Path], folder: Path) -> RunFolder:
    if kind == "events":
        pytest.importorskip("tensorboard")
    assert main(["import", str(make(folder))]) == 0
    return find_run("last", str(folder))


@pytest.mark.parametrize(
    ("kind", "make", "notes"),
    [
        ("trainer", trainer_state, ["lr is learning_rate there"]),
        ("events", events, ["loss is train/loss there", "lr is lr-Adam there"]),
        ("wandb", offline_run, ["loss is train/loss there", "project there: tides"]),
    ],
    ids=["trainer", "events", "wandb"],
)
def test_a_history_becomes_a_run(
    kind: str,
    make: Callable[[Path], Path],
    notes: list[str],
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = taken(kind, make, folder)
    said = capsys.readouterr().out
    assert f"nan: the loss is nan at step {BAD}, {loss(BAD - 1):.4g} at step {BAD - 1}" in said
    found = losses(run)
    assert found[:BAD] == pytest.approx([loss(s) for s in range(BAD)], rel=1e-6)
    assert all(map(math.isnan, found[BAD:]))
    assert [n for n in notes if n not in run.run().notes] == []
    page = Project(str(folder)).run(run.run().id)
    assert page["imported"] is True
    assert page["tracks"][0]["series"]["loss"]["bad"] == list(range(BAD, STEPS))
    assert main(["triage", run.run().id]) == 0
    assert "nan" in capsys.readouterr().out.lower()
    assert main(["diagnose", run.run().id]) == 2
    assert "there is no program to run again" in capsys.readouterr().err
    for words in (["watch", "last"], ["report", "last", "--format", "markdown"], ["runs", "show", "last"]):
        assert main(words) in (0, 1)


def test_what_lies_at_other_steps_stands_apart(folder: Path) -> None:
    run = taken("trainer", trainer_state, folder)
    names = [r.rows[0].columns for r in run.journals().values()]
    assert names[0] == ("loss", "grad_norm", "lr", "epoch")
    assert ("eval_loss", "eval_accuracy") in names
    assert any("train_loss" in columns for columns in names)


def test_two_histories_are_compared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = taken("trainer", trainer_state, folder).run().id
    assert main(["import", str(trainer_state(folder, 1.5)), "--name", "other"]) == 0
    capsys.readouterr()
    assert main(["diff", one, "last", "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [c["name"] for c in told["changes"] if c["group"] == "losses"] == ["step 0"]


def test_a_step_that_was_taken_again_counts_once(folder: Path) -> None:
    log = [{"loss": 9.0, "step": s} for s in range(6)] + [{"loss": 1.0, "step": s} for s in range(3, 9)]
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": log}))
    assert main(["import", "trainer_state.json"]) == 0
    assert losses(find_run("last", ".")) == [9.0] * 3 + [1.0] * 6


def test_events_that_were_cut_off_are_read_so_far(folder: Path) -> None:
    pytest.importorskip("tensorboard")
    top = events(folder)
    file = next(top.glob("*tfevents*"))
    file.write_bytes(file.read_bytes()[:-7])
    assert main(["import", str(top)]) == 0
    assert len(losses(find_run("last", "."))) == STEPS - 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no missing"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"log": []}', "has no log_history"),
        (
            '{"log_history": [{"step": 1, "note": "x"}, 3, {"loss": 1.0}, {"step": 1e99, "loss": 1}]}',
            "no numbers",
        ),
    ],
    ids=["missing", "cut", "deep", "foreign", "empty"],
)
def test_what_is_no_history_says_so(
    content: str | None, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "missing"
    if content is not None:
        path = "trainer_state.json"
        Path(path).write_text(content)
    assert main(["import", path]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "next: " in told


@pytest.mark.parametrize("package", ["pyarrow", "tensorboard"])
def test_without_the_library_the_extra_is_named(package: str, tmp_path: Path) -> None:
    recorded(tmp_path)
    (tmp_path / "events.out.tfevents.1").write_bytes(b"")
    words = {
        "pyarrow": ["export", "r1", "--format", "parquet"],
        "tensorboard": ["import", "events.out.tfevents.1"],
    }[package]
    # As in an environment that lacks it.
    code = (
        "import importlib.util, sys\n"
        "known = importlib.util.find_spec\n"
        f"importlib.util.find_spec = lambda n, *a: None if n == {package!r} else known(n, *a)\n"
        f"from firstcause.cli.main import main\nsys.exit(main({words!r}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    extra = "parquet" if package == "pyarrow" else package
    assert done.returncode == 2
    assert f"next: pip install 'firstcause[{extra}]'" in done.stderr
