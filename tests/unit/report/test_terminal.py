from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from case.samples import PROGRAM, SITE, diagnosis, evidence, unified

from firstcause.case import Attempt, Progress, approach_of
from firstcause.report.case_page import render_case, render_cases
from firstcause.report.hypotheses import deciding
from firstcause.report.plain import cells
from firstcause.report.style import wants_color
from firstcause.report.terminal import render_diagnosis, render_run_summary
from firstcause.schema import Case, Diagnosis, Hypothesis, Run, Site, Symptom

COLOR = re.compile(r"\x1b\[[0-9]+m")
PAGE = Path(__file__).parent / "diagnosis_80.txt"


def page(shown: Diagnosis, color: bool = False, width: int = 80, source: list[str] | None = None) -> str:
    out = io.StringIO()
    render_diagnosis(shown, out, color, width, source, "firstcause case approve")
    return out.getvalue()


def test_page_at_80_columns() -> None:
    """The whole page as it is kept beside this test; look at it before it is replaced."""
    assert page(diagnosis(), source=PROGRAM.splitlines()) == PAGE.read_text()


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    long = diagnosis(symptom=Symptom("nan", "x" * 300, SITE, 3), cause=None, status="not-established")
    for shown in (diagnosis(), long):
        lines = page(shown, width=width, source=PROGRAM.splitlines()).splitlines()
        # Changed lines stay whole: they are what a person approves.
        assert all(cells(line) <= width for line in lines if "│ -" not in line and "│ +" not in line)
        assert any(cells(line) == width for line in lines)


def test_colour_changes_no_character() -> None:
    coloured = page(diagnosis(), color=True, source=PROGRAM.splitlines())
    assert "\x1b[" in coloured
    bare = [line.rstrip() for line in COLOR.sub("", coloured).splitlines()]
    assert bare == page(diagnosis(), source=PROGRAM.splitlines()).splitlines()


def test_foreign_text_sends_no_code_to_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;x\x07\u202eevil\r"
    site = Site(f"train{evil}.py", 6, evil, evil)
    shown = diagnosis(
        site=site,
        symptom=Symptom("nan", evil, site),
        sections=dict.fromkeys(diagnosis().sections, f"text {evil}"),
        missing=evil,
        hypotheses=(Hypothesis(f"log{evil}", site, 1, "confirmed", (evidence(text=evil),)),),
        diff=unified({"train.py": ("a\n", f"b{evil}\n".replace("\r", ""))}),
    )
    text = page(shown, source=[evil] * 9)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    assert "b\\x1b[2J\\x1b]0;x\\x07\\u202eevil" in text


def test_line_is_marked_between_its_neighbours() -> None:
    text = page(diagnosis(), source=PROGRAM.splitlines())
    assert [line[:6] for line in text.splitlines() if " │ " in line][:2] == ["    5 ", "  ▸ 6 "]
    assert "▸" not in page(diagnosis(), source=["too", "short"])
    assert "▸" not in page(diagnosis(), source=None)


def test_terminal_without_glyphs_gets_ascii() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    render_diagnosis(diagnosis(), out, source=PROGRAM.splitlines())
    out.flush()
    assert b"  > 6 | " in raw.getvalue()
    assert b"1 + log-of-zero" in raw.getvalue()


def test_unknown_is_said_with_what_is_missing() -> None:
    text = page(
        diagnosis(cause=None, site=None, status="not-established", fix=None, missing="a replay of step 3")
    )
    first = text.splitlines()[0]
    assert first.startswith("the loss became nan ")
    assert first.endswith(" cause not established")
    assert "Missing Evidence\n  a replay of step 3\n" in text


def test_diff_that_cannot_be_read_is_shown_as_it_is() -> None:
    assert "    change line 5\n" in page(diagnosis(diff="change line 5\n"))


def test_patch_lines_are_numbered_as_in_the_file() -> None:
    old = "".join(f"line {i}\n" for i in range(1, 31))
    new = old.replace("line 3\n", "line 3\nnew\n").replace("line 25\n", "")
    rows = [line for line in page(diagnosis(diff=unified({"x.py": (old, new)}))).splitlines() if "│" in line]
    assert [row.split("│")[0].strip() for row in rows if "│ +" in row] == ["4"]
    assert [row.split("│")[0].strip() for row in rows if "│ -" in row] == ["25"]


def test_deciding_evidence_is_on_the_side_of_the_status() -> None:
    weak, strong = evidence("observation", text="weak"), evidence("experiment", text="strong")
    against = evidence("replay", supports=False, text="against")
    rows = Hypothesis("x", None, 1, "confirmed", (against, weak, strong, weak))
    assert deciding(rows) == strong
    assert deciding(replace(rows, status="refuted")) == against
    assert deciding(replace(rows, status="inconclusive", evidence=(strong, against))) == against
    assert deciding(replace(rows, status="open", evidence=())) is None


def test_run_summary() -> None:
    run = Run(
        "r1", ("python", "train.py"), "/p", "", "3.11", "linux", 12.31, 1, symptoms=(diagnosis().symptom,)
    )  # type: ignore[arg-type]
    out = io.StringIO()
    render_run_summary(run, out, ".firstcause/runs/r 1")
    first, rule, *rows = out.getvalue().splitlines()
    assert first == "r1" + " " * 54 + "exit code 1 after 12.3 s"
    assert rule == "─" * 80
    assert rows == [
        "  nan     the loss became nan (step 118, train.py:6)",
        "  record  .firstcause/runs/r 1",
        "",
        "next  firstcause diagnose '.firstcause/runs/r 1'",
    ]
    out = io.StringIO()
    render_run_summary(replace(run, exit_code=None, signal=9, symptoms=()), out, "run")
    assert "ended by signal 9 after 12.3 s" in out.getvalue()
    assert "next" not in out.getvalue()


def test_case_pages() -> None:
    case = Case("20261128-093012-nan-1a2b", "r1", "stopped", "2026-11-28T09:30:12Z", diagnosis(), 3)
    tried = Attempt(
        approach_of(diagnosis()), "Clamp.", "", "2026-11-28T09:31:00Z", False, "the loss is nan at step 40"
    )
    progress = Progress(case, "run", "2026-11-28T09:40:00Z", 20, attempts=(tried,) * 3)
    out = io.StringIO()
    render_case(progress, out)
    text = out.getvalue()
    assert "  strikes  3 of 3\n" in text
    assert text.count("      the loss is nan at step 40\n") == 3
    assert "Stopped After Three Strikes" in text
    assert text.count("?") == 1
    out = io.StringIO()
    render_cases([(case.id, progress), ("20261128-100000-nan-0000", "line 3 is no event")], out)
    assert out.getvalue().splitlines() == [
        "20261128-093012-nan-1a2b  stopped        log-of-zero at train.py:6",
        "20261128-100000-nan-0000  damaged        line 3 is no event",
    ]


@pytest.mark.parametrize(
    ("environ", "isatty", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_follows_the_environment(environ: dict[str, str], isatty: bool, wanted: bool) -> None:
    assert wants_color(environ, isatty) is wanted
