"""Trainings that end in NaN for what was wrong from their first step on: neither a smaller rate nor clipping is the fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record, the_run

from firstcause.diagnose import diagnose
from firstcause.lab.counterfactual import Lab


@pytest.mark.parametrize(
    ("name", "cause", "line"),
    [
        ("sign_turned_run_away", "wrong-sign-loss", 13),
        ("start_saturated_run_away", "saturated-activation", 9),
    ],
)
def test_what_was_wrong_from_the_first_step_is_named(
    name: str, cause: str, line: int, tmp_path: Path
) -> None:
    record(tmp_path, name)
    run = the_run(tmp_path)
    assert run.run().symptoms[0].kind == "nan"

    found = diagnose(run, lambda failure: Lab(run, failure, 100))

    assert (found.status, found.cause) == ("established", cause)
    assert found.site is not None
    assert abs(found.site.line - line) <= 1
    assert found.symptom is not None
    assert found.symptom.kind == "nan"
    assert "From its first steps on" in found.sections["Symptom"]
    assert any(h.cause == "log-of-zero" and h.status == "refuted" for h in found.hypotheses)
