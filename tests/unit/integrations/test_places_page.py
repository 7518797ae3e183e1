"""The problem matcher of docs/places.md meets what ``check --format concise`` really prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from firstcause.check.report import Report
from firstcause.report.check_sarif import LEVELS
from firstcause.report.check_text import concise
from firstcause.schema.finding import Finding
from firstcause.schema.site import Site

PAGE = Path(__file__).resolve().parents[3] / "docs" / "places.md"
SEVERITIES = {"error": "error", "warning": "warning", "note": "info"}


@pytest.fixture(scope="module")
def matchers() -> list[dict[str, Any]]:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (task,) = json.loads(text)["tasks"]
    assert task["command"].startswith("firstcause check --format concise")
    return task["problemMatcher"]


@pytest.mark.parametrize("category", LEVELS)
@pytest.mark.parametrize("file", ["train.py", "/abs/a dir/my-train.py", "C:\\work\\train.py"])
def test_each_finding_is_met_by_the_matcher_of_its_severity(
    matchers: list[dict[str, Any]], category: Any, file: str
) -> None:
    finding = Finding(
        "missing-zero-grad", category, Site(file, 12), "opt steps: nothing clears its gradients"
    )
    first, count = concise(Report((finding,), files=1)).splitlines()
    (met,) = [m for m in matchers if re.search(m["pattern"]["regexp"], first)]
    assert met["severity"] == SEVERITIES[LEVELS[category]]
    pattern = met["pattern"]
    found = re.search(pattern["regexp"], first)
    read = {name: found[pattern[name]] for name in ("file", "line", "code", "message")}
    assert read == {"file": file, "line": "12", "code": finding.slug, "message": finding.message}
    assert not any(re.search(m["pattern"]["regexp"], count) for m in matchers)
