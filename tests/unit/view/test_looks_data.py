from __future__ import annotations

import json
from pathlib import Path

from firstcause.record.journal import Journal
from firstcause.record.kept_looks import KeptMemory
from firstcause.view.memory_steps import memory_steps
from firstcause.view.project import Project
from view.projects import MEMORY, PROFILE, recorded


def test_looks_are_series_and_no_events(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    journal = Journal(run.file("rank-0-100.journal"))
    journal.event("look", step=1, updates=[0.001, 0.002, float("nan")], terms={"recon": 2.0, "kl": 0.5})
    journal.event("look", step=9, updates=[0.001, 0.002, 0.03])
    data = json.loads(json.dumps(Project(str(tmp_path)).run("r1"), allow_nan=False))
    by_kind = {one["what"]: one for one in data["looks"]}
    assert by_kind["updates"]["step"] == [1, 9]
    assert by_kind["updates"]["series"]["highest parameter"] == [None, 0.03]
    assert by_kind["terms"] == {
        "what": "terms",
        "label": "rank 0",
        "step": [1],
        "series": {"recon": [2.0], "kl": [0.5]},
    }
    assert [e["event"] for e in data["events"]] == ["note"]


def test_what_commands_kept_is_shown_and_changes_the_page(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    project = Project(str(tmp_path))
    assert (project.run("r1")["memory_look"], project.run("r1")["profile"]) == (None, None)
    before = project.signature("run", "r1")
    run.write_json("memory.json", MEMORY)
    run.write_json("profile.json", PROFILE)
    assert project.signature("run", "r1") != before
    data = project.run("r1")
    assert data["profile"]["parts"][0] == ["data", 0.75]
    assert [one["known"] for one in data["memory_look"]["steps"]] == [True] * 6
    assert [one["at"] for one in data["memory_look"]["steps"]] == [12, 12, 12, 12, 12, 14]
    assert "graph nodes 90 to 360" in data["memory_look"]["steps"][0]["text"]
    assert "used up at step 9,000" in data["memory_look"]["steps"][1]["text"]


def test_memory_that_does_not_grow_answers_the_first_step_alone() -> None:
    steps = memory_steps(KeptMemory(()), "/p")["steps"]
    assert [one["known"] for one in steps] == [False, None, None, None, None, None]
    assert [one["at"] for one in steps] == [None] * 6
    assert "did not grow" in steps[0]["text"]
