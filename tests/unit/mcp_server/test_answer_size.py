"""Answers fit: the longest parts are shortened first, the next step never, and what was cut is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from case.samples import diagnosis, evidence, project
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.case import open_case
from firstcause.mcp.answers import LARGEST, PageAnswer, Step, fitted, text_of
from firstcause.mcp.answers import given as answered
from firstcause.schema import Hypothesis
from mcp_server.calling import call, text

VALUES = st.recursive(
    st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=60,
)


@given(st.dictionaries(st.sampled_from(["said", "page", "findings", "notes"]), VALUES, min_size=1))
@settings(max_examples=60, deadline=None)
def test_what_can_be_shortened_fits(values: dict[str, object]) -> None:
    step = {"tool": "open_case", "arguments": {}, "person": "", "why": "w" * 200}
    plain = {**values, "long": ["word " * 300] * 20, "next": step, "cut": []}
    made = fitted(plain)
    assert made["next"] == step
    assert "long" in made["cut"]
    assert len(text_of(made).encode()) <= LARGEST


def test_a_large_case_fits_and_points_to_its_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = str(project(tmp_path))
    many = tuple(
        Hypothesis(
            "log-of-zero" if n == 0 else f"cause-{n}",
            None,
            n + 1,
            "open",
            (evidence(text="fact " * 200),) * 5,
        )
        for n in range(40)
    )
    open_case(root, "r1", f"{root}/runs/r1", diagnosis(hypotheses=many))
    monkeypatch.chdir(tmp_path)
    result = call("case_status")
    assert len(text(result).encode()) <= LARGEST
    assert len(text_of(result.structured_content).encode()) <= LARGEST
    assert "hypotheses" in result.structured_content["cut"]
    assert result.structured_content["next"]["tool"] == "request_approval"
    assert any(pointer.endswith("history.jsonl") for pointer in result.structured_content["pointers"])


def test_what_is_no_utf8_breaks_no_answer() -> None:
    result = answered(PageAnswer(said="a\udcffb", next=Step(tool="explain"), page="p"))
    assert result.structured_content["said"] == "a?b"
    assert text(result).encode()
