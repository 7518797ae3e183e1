"""What the parent makes of the lines that arms leave, torn and missing ones included."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from firstcause.lab import counterfactual
from firstcause.lab.counterfactual import CONTROL, Arm, Lab, Ran
from firstcause.lab.sealed import Ended
from firstcause.record.folder import RunFolder
from firstcause.schema import Run

OTHER = Arm("lr / 10", "learning_rate", {"factor": 0.1})


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    folder = RunFolder(str(tmp_path))
    folder.write_run(Run("r", ("python", "train.py"), str(tmp_path), "", "3.11", "linux", seconds=1.0))
    return Lab(folder, {}, 60)


def answering(monkeypatch: pytest.MonkeyPatch, *answers: Ended) -> list[dict[str, Any]]:
    asked: list[dict[str, Any]] = []

    def run_sealed(
        folder: Any,
        extra: Any,
        files: dict[str, Any],
        seconds: float,
        command: Any = None,
        executor: Any = None,
    ) -> Ended:
        asked.append(files["FIRSTCAUSE_ARMS"])
        return answers[len(asked) - 1]

    monkeypatch.setattr(counterfactual, "run_sealed", run_sealed)
    return asked


def line(name: str, *losses: float) -> str:
    return json.dumps({"arm": name, "ended": "steps", "rows": [{"loss": x} for x in losses]})


def test_each_arm_is_run_once_and_known_afterwards(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch, Ended(0, (line(CONTROL.name, 2.0, math.nan), line(OTHER.name, 2.0)), ""))

    ran = lab.from_start([CONTROL, OTHER], 5)
    again = lab.from_start([OTHER], 5)

    assert len(asked) == 1
    assert not ran[CONTROL.name].finite
    assert ran[OTHER.name].finite
    assert again[OTHER.name] is ran[OTHER.name]


def test_a_process_that_could_not_fork_is_started_again_for_the_next_arm(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(
        monkeypatch, Ended(0, (line(CONTROL.name, 2.0),), ""), Ended(0, (line(OTHER.name, 1.0),), "")
    )

    ran = lab.from_start([CONTROL, OTHER], 5)

    assert [len(a["arms"]) for a in asked] == [2, 1]
    assert ran[OTHER.name].losses == (1.0,)


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        (Ended(None, (), ""), "took too long"),
        (Ended(3, (), "no such file"), "ended with code 3 before the first mark; it said: no such file"),
        (Ended(0, ('{"arm": "as it ran", "en',), ""), "ended with code 0"),
    ],
)
def test_an_arm_without_a_result_says_why(
    ended: Ended, why: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, ended)

    ran = lab.from_start([CONTROL], 5)[CONTROL.name]

    assert ran.ended == "lost"
    assert why in ran.why


def test_without_consent_no_process_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(monkeypatch)
    lab = Lab(RunFolder(str(tmp_path)), {}, 60, allowed=lambda: False)

    ran = lab.from_start([CONTROL], 5)

    assert asked == []
    assert "diagnose with --yes" in ran[CONTROL.name].why


def test_a_failing_step_that_was_not_kept_has_no_arms(lab: Lab) -> None:
    ran: Ran = lab.from_failure([CONTROL])[CONTROL.name]

    assert ran.ended == "lost"
    assert "was not kept" in ran.why


def test_what_is_compared_with_an_audit_that_ran_out_of_time_takes_as_many_steps(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = Arm("as it ran, audited", "audit")
    asked = answering(
        monkeypatch, Ended(0, (line(audit.name, *[1.0] * 25),), ""), Ended(0, (line(OTHER.name, 1.0),), "")
    )

    cut = lab.from_start([audit], lab.horizon(60))[audit.name]
    assert lab.from_start([audit], lab.horizon(60))[audit.name] is cut
    lab.from_start([OTHER], lab.horizon(60))

    assert [a["steps"] for a in asked] == [60, 25]
    assert asked[0]["until"] > 0


def test_time_is_kept_for_what_comes_later_and_given_back(lab: Lab) -> None:
    with lab.keeping(40):
        assert 15 < lab.seconds_left <= 30
    assert lab.seconds_left > 50
