from __future__ import annotations

import json
from pathlib import Path

import pytest

from firstcause.errors import RecordError
from firstcause.view.project import Project
from view.projects import BAD, STEPS, opened, recorded, row, write_steps


def test_a_run_has_its_figures_its_gaps_and_its_failing_step(tmp_path: Path) -> None:
    recorded(tmp_path)
    data = json.loads(json.dumps(Project(str(tmp_path)).run("r1"), allow_nan=False))
    (track,) = data["tracks"]
    assert (track["label"], track["rows"], track["width"], track["last_step"]) == (
        "rank 0",
        STEPS,
        1,
        STEPS - 1,
    )
    loss = track["series"]["loss"]
    assert loss["low"][1] == pytest.approx(row(1)[0], rel=1e-4)
    assert loss["low"][60] == 50.0
    assert loss["high"] is None
    assert loss["bad"] == [BAD, BAD + 1]
    assert loss["low"][BAD] is None
    assert track["series"]["seconds"]["low"][:2] == [None, 0.02]
    assert set(track["series"]) == {"loss", "grad_norm", "lr", "seconds"}
    assert [(r["name"], r["bad"]) for r in track["heat"]["rows"]] == [
        ("net.0.weight", [BAD, BAD + 1]),
        ("net.0.bias", [BAD, BAD + 1]),
    ]
    assert track["heat"]["rows"][0]["values"][0] == 1.2
    assert data["memory"][0]["series"]["resident"][:2] == [300_000_000, 310_000_000]
    assert [(e["step"], e["text"]) for e in data["events"]] == [(70, "the batch was not kept")]
    (failure,) = data["failures"]
    assert (failure["step"], failure["births"][0]["kind"], failure["births"][0]["first_rows"]) == (
        BAD,
        "-inf",
        [10],
    )
    assert data["symptoms"] == [
        {"kind": "nan", "text": "the loss became nan at step 118 (train.py:6)", "step": BAD}
    ]


def test_what_is_written_later_is_seen_and_changes_the_signature(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    project = Project(str(tmp_path))
    project.run("r1")
    before = project.signature("run", "r1")
    assert project.signature("run", "r1") == before
    write_steps(run, STEPS, STEPS + 3)
    assert project.signature("run", "r1") != before
    assert project.run("r1")["tracks"][0]["rows"] == STEPS + 3
    window = project.window("r1", 50, 70)["tracks"][0]
    assert (window["rows"], window["steps"][0], window["series"]["loss"]["low"][10]) == (21, 50, 50.0)


def test_ranks_stand_side_by_side(tmp_path: Path) -> None:
    recorded(tmp_path, ranks=3)
    assert [t["label"] for t in Project(str(tmp_path)).run("r1")["tracks"]] == ["rank 0", "rank 1", "rank 2"]


def test_a_case_has_what_a_person_reads_before_approving(tmp_path: Path) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    data = json.loads(json.dumps(Project(str(tmp_path)).case(case.id), allow_nan=False))
    assert (data["state"], data["diagnosis"]["cause"], data["limit"]) == ("diagnosed", "log-of-zero", 3)
    assert [q["key"] for q in data["questions"]] == ["symptom", "scope", "side-effect"]
    assert data["source"]["line"] == 6
    assert data["source"]["lines"][6 - data["source"]["first"]].lstrip().startswith("return -(target")
    changed = [(r["tag"], r["number"]) for r in data["patch"][0]["rows"] if r["tag"] != " "]
    assert changed == [("-", 5), ("+", 5)]
    assert [h["status"] for h in data["rows"]] == ["confirmed", "refuted", "inconclusive"]
    plots = data["rows"][0]["evidence"][1]["plots"]
    assert [p["name"] for p in plots] == ["losses, as it was", "losses, with the change"]
    assert plots[1]["values"][-1] == 0.9
    assert [e["event"] for e in data["history"]] == ["opened", "characterised", "hypotheses", "diagnosed"]


def test_a_line_that_has_changed_since_is_not_shown_as_the_cause(tmp_path: Path) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    (tmp_path / "train.py").write_text("# another program\n" * 20)
    assert Project(str(tmp_path)).case(case.id)["source"] is None


def test_a_line_that_was_mended_is_shown_as_it_was_recorded(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    text = (tmp_path / "train.py").read_text()
    plain = json.loads(Path(run.file("run.json")).read_text()) | {
        "sources": {str(tmp_path / "train.py"): "ab" * 32}
    }
    Path(run.file("run.json")).write_text(json.dumps(plain))
    Path(run.file("sources")).mkdir()
    Path(run.file("sources", "ab" * 32)).write_text(text)
    case = opened(tmp_path)
    assert Project(str(tmp_path)).case(case.id)["source"]["when"] == "as it is now"
    (tmp_path / "train.py").write_text("# mended\n")
    source = Project(str(tmp_path)).case(case.id)["source"]
    assert (source["when"], source["line"]) == ("as it was recorded", 6)
    assert source["lines"] == text.split("\n")


def test_the_list_names_what_is_damaged(tmp_path: Path) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    broken = tmp_path / ".firstcause" / "runs" / "r0"
    broken.mkdir()
    (broken / "run.json").write_text("{")
    Path(case.file("history.jsonl")).write_text("{}\n")
    home = Project(str(tmp_path)).home()
    assert [(r["id"], bool(r["problem"])) for r in home["runs"]] == [("r1", False), ("r0", True)]
    assert [c["state"] for c in home["cases"]] == ["damaged"]


@pytest.mark.parametrize("name", ["..", "../..", "r2", "", "/etc"])
def test_a_name_from_outside_is_never_a_path(tmp_path: Path, name: str) -> None:
    recorded(tmp_path)
    with pytest.raises(RecordError):
        Project(str(tmp_path)).run_folder(name)
    with pytest.raises(RecordError):
        Project(str(tmp_path)).case_folder(name)
