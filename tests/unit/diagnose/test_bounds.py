"""What a record does not hold is told, and what a program said when it ran again is kept without its secrets."""

from __future__ import annotations

import math
from typing import Any

import pytest

from firstcause.diagnose import bounds
from firstcause.schema import Diagnosis, Evidence, Fix, Hypothesis, Run, Site, Symptom

SYMPTOM = Symptom("nan", "the loss is not finite")


def a_run(**recording: Any) -> Run:
    return Run(
        "r", ("p",), "/w", "", "3", "linux", environment={"recording": recording} if recording else None
    )


def a_diagnosis(text: str, code: str = "x = 1") -> Diagnosis:
    evidence = Evidence("experiment", True, text, {"loss": math.nan}, Site("a.py", 1, "f", code))
    hypothesis = Hypothesis("log-of-zero", None, 1, "confirmed", (evidence,))
    fix = Fix("log-of-zero", f"-{code}\n+y", "s", "c", "d")
    return Diagnosis(
        "established", SYMPTOM, "log-of-zero", None, (hypothesis,), {"Symptom": "it fails."}, fix
    )


@pytest.mark.parametrize(
    ("run", "failure", "said"),
    [
        (a_run(), None, "it fails."),
        (a_run(no_data=False), {"not_saved": "", "left_out": ""}, "it fails."),
        (a_run(), {"left_out": "no optimizer"}, "it fails. In the record of the step: no optimizer."),
    ],
)
def test_limits_stand_beneath_the_symptom(run: Run, failure: dict[str, Any] | None, said: str) -> None:
    assert bounds.told(run, failure, a_diagnosis("t")).sections["Symptom"] == said


def test_no_data_is_told_once() -> None:
    run = a_run(no_data=True)
    assert bounds.keeps_no_data(run)
    text = bounds.told(run, {"not_saved": "run --no-data keeps no values"}, a_diagnosis("t")).sections[
        "Symptom"
    ]
    assert text.count("--no-data") == 1
    assert "could not be established" in text


def test_a_diagnosis_without_secrets_is_left_as_it_is() -> None:
    plain = a_diagnosis("mat1 and mat2 (4x8)")
    assert bounds.without_secrets(plain) is plain


def test_secrets_go_but_the_patch_still_fits() -> None:
    code = 'login(api_key="abcdefgh12345678")'
    kept = bounds.without_secrets(a_diagnosis("it said: password=hunter2", code))
    (evidence,) = kept.hypotheses[0].evidence
    assert evidence.text == "it said: password=[redacted]"
    assert evidence.site is not None
    assert evidence.site.text == 'login(api_key="[redacted]")'
    assert kept.fix is not None
    assert code in kept.fix.diff
