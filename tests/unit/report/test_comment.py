from __future__ import annotations

from case.samples import diagnosis

from firstcause.case import Progress
from firstcause.report.comment import LIMIT, MARKER, case_comment, cropped, run_comment
from firstcause.report.watch_line import Seen, watch_lines
from firstcause.schema import Case, Run, Symptom


def test_a_case_is_a_comment_that_can_be_found_again() -> None:
    case = Case("c1", "r1", "diagnosed", "2026-11-28T09:30:12Z", diagnosis(), 0)
    text = case_comment(Progress(case, "run", "2026-11-28T09:40:00Z", 4))
    assert text.startswith(f"{MARKER}\n# Case c1: diagnosed\n")
    assert "```diff\n--- a/train.py" in text


def test_a_long_comment_is_cut_at_a_line_and_its_fence_closed() -> None:
    lines = ["# title", "````diff", *(f"+ line {n} ü" for n in range(20_000)), "````", "the end"]
    text = cropped("\n".join(lines))
    assert len(text.encode()) <= LIMIT
    assert text.split("\n").count("````") == 1
    assert "the end" not in text
    assert "more lines were left out" in text.split("\n")[-2]
    assert cropped("short") == "short"


def test_a_run_is_a_comment_without_markup_or_mentions_of_others() -> None:
    run = Run("r1", ("python", "train.py"), "/x", "now", "3.11", "linux", 2.0, 1)
    bad = Symptom("exception", "<img src=x> @everybody\x1b[2J", None, 3)
    text = run_comment(Run(**{**run.__dict__, "symptoms": (bad,), "notes": ("<b>",)}))
    assert "&lt;img src=x> &#64;everybody at step 3" in text
    assert "<b>" not in text
    assert "\x1b" not in text
    assert "No symptom was seen." in run_comment(run)


def test_a_line_a_process() -> None:
    figures = {"loss": 0.25, "grad_norm": 1.5, "lr": 1e-3, "seconds": 0.02, "grad_norm/a": 1.0}
    assert watch_lines([Seen("rank-0-1", 47, figures), Seen("rank-1-2", -1, {})]) == [
        "rank-0-1: step 47 · loss 0.25 · gradient norm 1.5 · learning rate 0.001 · 0.02 s a step",
        "rank-1-2: no step yet",
    ]
    assert watch_lines([]) == ["no process has been seen yet"]
