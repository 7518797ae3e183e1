"""An agent begins a case with a text: nothing is measured, and the next call is a record of the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_server.calling import call, text

SHAPES = """\
Traceback (most recent call last):
  File "train.py", line 12, in <module>
    loss = model(x).mean()
RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x16 and 12x1)
"""


def test_a_text_begins_a_case_that_waits_for_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    opened = call("open_case", text=SHAPES)
    assert not opened.is_error, text(opened)
    known = opened.structured_content
    assert (known["state"], known["cause"]) == ("hypotheses", "")
    assert known["next"]["tool"] == "open_case"
    assert "script" in known["next"]["arguments"]
    refused = call("run_probe", case=known["case"])
    assert refused.is_error
    assert refused.structured_content["refused"] == "run-missing"
    assert call("open_case", text=SHAPES).structured_content["case"] == known["case"]


def test_a_text_without_a_symptom_begins_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = call("open_case", text="it crashes, why?")
    assert refused.is_error
    assert refused.structured_content["refused"] == "no-symptom"
    assert refused.structured_content["next"]["tool"] == "triage"
    long = call("open_case", text="x" * 2_000_001)
    assert long.structured_content["refused"] == "triage-which"
