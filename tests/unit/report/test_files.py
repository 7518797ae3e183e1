from __future__ import annotations

import json
import math

from case.samples import SITE, diagnosis, evidence

from firstcause.case import Attempt, Progress, approach_of, diagnosis_hash, diff_hash
from firstcause.report.json_file import case_to_json, diagnosis_to_json
from firstcause.report.markdown import case_to_markdown
from firstcause.schema import Case, Hypothesis


def test_diagnosis_as_json() -> None:
    shown = diagnosis(hypotheses=(*diagnosis().hypotheses[:1], Hypothesis(
        "log-of-zero", SITE, 1, "confirmed", (evidence(smallest=math.nan, largest=math.inf),)
    )))  # fmt: skip
    data = json.loads(json.dumps(diagnosis_to_json(shown), allow_nan=False))
    assert (data["status"], data["cause"]) == ("established", "log-of-zero")
    assert data["site"] == {"file": "train.py", "line": 6, "function": "loss", "text": SITE.text}
    assert [h["cause"] for h in data["hypotheses"]] == ["log-of-zero", "learning-rate-too-high"]
    (fact,) = data["hypotheses"][0]["evidence"]
    assert (fact["kind"], fact["supports"], fact["values"]) == (
        "replay",
        True,
        {"smallest": "nan", "largest": "inf"},
    )
    assert data["fix"]["diff"].startswith("--- a/train.py\n+++ b/train.py\n")
    assert data["fix"]["summary"] == "Clamp the probability at 1e-6."
    assert len(data["sections"]) == 6
    empty = diagnosis_to_json(
        diagnosis(status="healthy", cause=None, site=None, fix=None, symptom=None, hypotheses=())
    )
    assert [empty[key] for key in ("status", "cause", "site", "fix", "hypotheses")] == [
        "healthy",
        None,
        None,
        None,
        [],
    ]


def some_progress() -> Progress:
    case = Case("20261128-093012-nan-1a2b", "r1", "hypotheses", "2026-11-28T09:30:12Z", diagnosis(), 1)
    tried = Attempt(
        approach_of(diagnosis()), "Clamp | twice.", "", "2026-11-28T09:31:00Z", False, "<b>nan</b>\x1b[2J"
    )
    return Progress(case, "run", "2026-11-28T09:40:00Z", 20, attempts=(tried,))


def test_case_as_json() -> None:
    data = json.loads(json.dumps(case_to_json(some_progress()), allow_nan=False))
    assert (data["state"], data["strikes"], data["next"]) == ("hypotheses", 1, "firstcause diagnose run")
    assert (data["diagnosis_hash"], data["diff_hash"]) == (
        diagnosis_hash(diagnosis()),
        diff_hash(diagnosis()),
    )
    assert data["attempts"][0]["approach"]["sites"] == [["train.py", 5, 5]]


def test_case_as_markdown() -> None:
    text = case_to_markdown(some_progress())
    assert text.startswith("# Case 20261128-093012-nan-1a2b: hypotheses\n")
    assert "| 2026-11-28T09:31:00Z | Clamp \\| twice. | &lt;b>nan&lt;/b> |" in text
    assert "```diff\n--- a/train.py\n" in text
    assert "| 2 | learning-rate-too-high | refuted | counterfactual: with a tenth" in text
    assert "\x1b" not in text
    assert text.endswith("\nNext: `firstcause diagnose run`\n")
