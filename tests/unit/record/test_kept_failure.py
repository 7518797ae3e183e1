"""A failing step that has not its form is named part by part; one that has is left alone."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from view.projects import failing, recorded

from firstcause.errors import RecordError
from firstcause.record.kept_failure import misfit


def changed(value: Any, *way: Any) -> dict[str, Any]:
    facts = copy.deepcopy(failing())
    holder: Any = facts
    for step in way[:-1]:
        holder = holder[step]
    holder[way[-1]] = value
    return facts


BIRTH = ("replay", "trace", "births", 0)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (failing(), ""),
        (changed(None, "replay"), ""),
        (changed(True, "replay"), "it.replay is not an object"),
        (changed("3", "unit", "line"), "it.unit.line is not a whole number"),
        (changed([None], "replay", "trace", "births"), "it.replay.trace.births holds what is not an object"),
        (changed(None, *BIRTH, "ancestors"), "it.replay.trace.births[0] has no ancestors"),
        (changed({"line": 3}, *BIRTH, "site"), "it.replay.trace.births[0].site has no file"),
        (changed("source", *BIRTH, "op"), "it.replay.trace.births[0] has no origin"),
        (changed({"command": ["python", "t.py"], "variables": {"RANK": "1"}}, "alone"), ""),
        (changed("python t.py", "alone"), "it.alone is not an object"),
        (changed({"variables": {"RANK": "1"}}, "alone"), "it.alone has no command"),
        (
            changed({"command": ["python"], "variables": {"RANK": 1}}, "alone"),
            "it.alone.variables holds what is not a text",
        ),
        (changed({"line": "of a program"}, "settings"), ""),
        (changed({"file": 3, "births": 3}, "replay", "trace", "owners"), ""),
    ],
)
def test_what_has_not_its_form_is_named(facts: dict[str, Any], said: str) -> None:
    assert misfit(facts) == said


def test_a_reader_of_the_run_is_told(tmp_path: Path) -> None:
    run = recorded(tmp_path)
    assert [f["step"] for f in run.failures()] == [118]
    (tmp_path / ".firstcause/runs/r1/failures/1-118-nan.json").write_text(json.dumps(changed(7, "unit")))
    with pytest.raises(RecordError, match=r"1-118-nan.json is damaged: it.unit is not an object"):
        run.failures()


def test_a_record_that_is_nested_deep_is_read_all_the_same() -> None:
    facts: dict[str, Any] = {"kind": "nan"}
    for _ in range(5000):
        facts = {"trace": facts}
    assert misfit(facts) == ""
