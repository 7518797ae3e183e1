"""The formats of a check's report: the order of sections, SARIF's rules, and text that stays text."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from firstcause.check.report import Report
from firstcause.report.check_ci import github, markdown
from firstcause.report.check_sarif import sarif
from firstcause.report.check_text import concise, terminal
from firstcause.report.style import Style
from firstcause.schema import Instruction
from firstcause.schema.finding import Category, Finding
from firstcause.schema.site import Site

EVIL = "a\x1b[31m\n::error::b|c\r\u202e%0A<img>"


def one(category: Category, slug: str = "", **more: Any) -> Finding:
    site = Site("src/a b.py", 3, "Net.fit", "opt.step()")
    return Finding(slug or f"a-{category}", category, site, f"what {category} means", end_line=4, **more)


REPORT = Report(
    (
        one("suggestion"),
        one("warning"),
        one("overengineering"),
        one("assumption", key="seed", got="3"),
        one("deviation", "with-a-reason", key="batch_size", justified=True),
        one("deviation", key="learning_rate", asked="0.1", got="0.2", argument="lr"),
        one("critical", related=(Site("src/b.py", 9),)),
    ),
    ("epochs",),
    (Instruction("epochs", 3, "three epochs"), Instruction("precision", "bf16", "in bf16")),
    files=2,
)


def check_against_sarif(log: dict[str, Any]) -> None:
    """What the 2.1.0 schema asks of the parts that are written: required names, their types, and their enumerations."""
    assert log["version"] == "2.1.0"
    assert set(log) <= {"$schema", "version", "runs", "inlineExternalProperties", "properties"}
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert isinstance(driver["name"], str)
        assert len({r["id"] for r in driver["rules"]}) == len(driver["rules"])
        for rule in driver["rules"]:
            assert set(rule) <= {
                "id",
                "name",
                "shortDescription",
                "fullDescription",
                "help",
                "helpUri",
                "properties",
            }
            assert rule["shortDescription"]["text"]
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        for invocation in run["invocations"]:
            assert isinstance(invocation["executionSuccessful"], bool)
        for result in run["results"]:
            assert isinstance(result["message"]["text"], str)
            assert result["level"] in ("none", "note", "warning", "error")
            assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
            assert all(isinstance(v, str) for v in result["partialFingerprints"].values())
            for place in [*result["locations"], *result.get("relatedLocations", [])]:
                physical = place["physicalLocation"]
                uri = physical["artifactLocation"]["uri"]
                assert re.fullmatch(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+", uri)
                region = physical["region"]
                assert region["startLine"] >= 1
                assert region.get("endLine", region["startLine"]) >= region["startLine"]
            assert all(isinstance(p["id"], int) and p["id"] >= -1 for p in result.get("relatedLocations", []))


def test_sarif_is_what_its_schema_asks_for() -> None:
    log = json.loads(json.dumps(sarif(REPORT, {"a-critical": "It fails."})))
    check_against_sarif(log)
    results = {r["ruleId"]: r for r in log["runs"][0]["results"]}
    assert results["a-critical"]["level"] == "error"
    assert results["a-deviation"]["level"] == "error"
    assert results["with-a-reason"]["level"] == "note"
    assert (
        results["a-critical"]["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        == "src/b.py"
    )
    assert (
        results["a-critical"]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/a%20b.py"
    )


def test_the_terminal_shows_the_sections_in_their_order() -> None:
    text = terminal(REPORT, Style(width=80))
    titles = [
        "Critical\n",
        "As asked\n",
        "Not as asked\n",
        "Not as asked, with a reason",
        "Assumptions to confirm\n",
        "Overengineering\n",
        "Warnings\n",
        "Suggestions\n",
        "Brief\n",
        "2 files: 1 critical, 1 deviation, 1 assumption to confirm",
        "1. correct src/a b.py:3",
    ]
    places = [text.index(t) for t in titles]
    assert places == sorted(places)
    assert "precision = bf16: nothing in the code sets it" in text


@pytest.mark.parametrize("show", [concise, github, markdown, lambda r: terminal(r, Style())])
def test_foreign_text_stays_text(show: Any) -> None:
    finding = Finding(
        "x", "critical", Site(EVIL, 1, EVIL, EVIL), EVIL, asked=EVIL, got=EVIL, related=(Site(EVIL, 2),)
    )
    plain = show(Report((finding,), files=1))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", plain)
    assert not re.search(r"(?m)^::error::b", plain)
    if show is markdown:
        assert "<img>" not in plain
    if show is github:
        assert "%0A" not in plain.replace("%250A", "")


def test_foreign_text_stays_text_in_sarif() -> None:
    finding = Finding("x", "critical", Site(EVIL, 0, EVIL, EVIL), EVIL)
    log = sarif(Report((finding,), files=1), {})
    check_against_sarif(log)
    assert "\\u001b" not in json.dumps(log)
