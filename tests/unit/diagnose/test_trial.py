"""A patch that no copy may run is proposed as untried, and the diagnosis stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.diagnose import trial
from firstcause.errors import InputError
from firstcause.record.folder import RunFolder
from firstcause.schema import SECTIONS, Diagnosis, Fix, Run, Symptom


def test_a_program_that_writes_outside_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object, **kwargs: object) -> None:
        raise InputError("verify-outside", "the program writes outside of its folder", "by hand")

    monkeypatch.setattr(trial, "try_in_copy", refused)
    folder = RunFolder(str(tmp_path))
    monkeypatch.setattr(
        folder, "run", lambda: Run("r", ("python", "train.py"), str(tmp_path), "", "3.11", "linux")
    )
    fix = Fix("log-of-zero", "diff", "Clamp it.", "", "")
    found = Diagnosis(
        "established",
        Symptom("nan", "bad"),
        "log-of-zero",
        None,
        (),
        dict.fromkeys(SECTIONS, "Clamp it."),
        fix,
    )

    tried = trial.try_fix(folder, found, 60.0)

    assert (tried.cause, tried.fix) == ("log-of-zero", fix)
    assert tried.sections["Proposed Fix"] == (
        "Clamp it. It was not tried in a copy: the program writes outside of its folder."
    )
