"""The last line of a log, the list of runs and the doctor's page: one line each, whatever a record says."""

from __future__ import annotations

import io

from firstcause.record.doctor import Check
from firstcause.record.folder import RunFolder
from firstcause.record.kept_runs import Listed
from firstcause.record.sizes import size
from firstcause.report.doctor_page import render_checks
from firstcause.report.run_line import run_line
from firstcause.report.runs_page import render_runs
from firstcause.schema import Run, Site, Symptom


def a_run(*symptoms: Symptom, **more: object) -> Run:
    plain = {"seconds": 2.0, "exit_code": 0, "observed": True} | more
    return Run("r", ("p",), "/w", "2026-01-02T03:04:05+0000", "3", "linux", symptoms=symptoms, **plain)  # type: ignore[arg-type]


def test_the_last_line_says_all_of_it() -> None:
    assert run_line(a_run(), "x") == "firstcause: no symptom · exit code 0 after 2.0 s · record x"
    assert run_line(a_run(exit_code=3), "x") == "firstcause: failed · exit code 3 after 2.0 s · record x"
    unseen = run_line(a_run(observed=False), "x")
    assert unseen == "firstcause: not observed, no symptom · exit code 0 after 2.0 s · record x"
    bad = Symptom("nan", "3 of 4 gradients", Site("a.py", 3, "f", "x"), 7)
    line = run_line(a_run(bad, bad, exit_code=None, signal=9, notes=("n",)), "x")
    assert line == (
        "firstcause: failed: nan: 3 of 4 gradients (step 7, a.py:3) · ended by signal 9 after 2.0 s · 1 more symptom"
        " · 1 note · record x"
    )


def test_it_is_one_line_without_control_codes_whatever_the_message() -> None:
    line = run_line(a_run(Symptom("exception", "a\nb\x1b[31mc\r" + "d" * 9999)), "p\nq")
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 400


def listed(name: str, run: Run | None, **more: object) -> Listed:
    plain = {"held": False, "cases": (), "problem": "" if run else "broken"} | more
    return Listed(name, RunFolder("x"), 1500, run, **plain)  # type: ignore[arg-type]


def test_one_line_a_run() -> None:
    out = io.StringIO()
    runs = [
        listed("a", a_run()),
        listed("b", a_run(Symptom("nan", "bad\nworse")), cases=("c",)),
        listed("c", None),
        listed("d", a_run(), held=True),
    ]
    render_runs(runs, out, width=100)
    assert out.getvalue().splitlines() == [
        "a  1.5 kB  2026-01-02 03:04  no symptom (exit code 0 after 2.0 s)",
        "b  1.5 kB  2026-01-02 03:04  case, nan: bad worse (exit code 0 after 2.0 s)",
        "c  1.5 kB  ?                 cannot be read: broken",
        "d  1.5 kB  2026-01-02 03:04  still being recorded",
        "4 runs, 6.0 kB",
    ]


def test_one_line_a_check() -> None:
    out = io.StringIO()
    render_checks([Check("disk", "works", "fine"), Check("clock", "missing", "a\nb", "set it")], out)
    assert out.getvalue() == "✓ disk   fine\n✗ clock  a b; set it\n"


def test_sizes_as_a_person_reads_them() -> None:
    assert [size(n) for n in (0, 999, 1000, 1_250_000, 2 * 10**9, 5 * 10**13)] == ["0 B", "999 B", "1.0 kB", "1.2 MB", "2.0 GB", "50.0 TB"]  # fmt: skip
