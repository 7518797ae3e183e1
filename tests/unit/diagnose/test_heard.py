"""A run's symptoms are read as triage reads a text: they order what is undecided, and say what is left to gather."""

from __future__ import annotations

import json
from pathlib import Path

from firstcause.diagnose import answer, heard
from firstcause.record.folder import RunFolder
from firstcause.schema import SECTIONS, Diagnosis, Evidence, Hypothesis, Symptom

MESSAGE = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x16 and 12x1)"


def run_of(folder: Path, message: str = MESSAGE) -> RunFolder:
    symptom = {"kind": "exception", "message": message, "rank": 0, "site": None, "step": 0}
    (folder / "run.json").write_text(
        json.dumps({"schema": 1, "command": ["python", "train.py"], "symptoms": [symptom], "exit_code": 1})
    )
    return RunFolder(str(folder))


def undecided(*hypotheses: Hypothesis) -> Diagnosis:
    root = "Not established. Missing: the replay."
    return Diagnosis(
        "not-established",
        Symptom("exception", MESSAGE),
        None,
        None,
        hypotheses,
        {SECTIONS[1]: root},
        None,
        "the replay",
    )


def test_words_order_what_is_undecided_and_never_what_is_settled(tmp_path: Path) -> None:
    triage = heard.heard(run_of(tmp_path))
    order = heard.order(triage)
    assert order["flatten-linear-mismatch"] == max(order.values())
    weights = {cause: (0, weight) for cause, weight in order.items()}
    hypotheses = [
        Hypothesis("dtype-mismatch", None, 1),
        Hypothesis("silent-broadcast", None, 2, "confirmed"),
        Hypothesis("flatten-linear-mismatch", None, 3),
    ]
    found = [h.cause for h in answer.ranked(hypotheses, weights)]
    assert found == ["silent-broadcast", "flatten-linear-mismatch", "dtype-mismatch"]
    taught = weights | {"dtype-mismatch": (1, 0)}
    assert answer.ranked(hypotheses, taught)[1].cause == "dtype-mismatch"


def test_where_nothing_was_measured_the_words_leave_suspicions(tmp_path: Path) -> None:
    triage = heard.heard(run_of(tmp_path))
    found = heard.completed(undecided(), triage)
    assert found.status == "not-established"
    assert found.hypotheses[0].cause == "flatten-linear-mismatch"
    assert {h.status for h in found.hypotheses} == {"open"}
    assert found.sections[SECTIONS[1]].startswith("Not established. Missing: the replay. ")
    assert len(found.sections[SECTIONS[1]]) > len("Not established. Missing: the replay. ")


def test_what_was_measured_stands_alone(tmp_path: Path) -> None:
    triage = heard.heard(run_of(tmp_path))
    evidence = Evidence("replay", False, "12 features arrive, as many as are taken")
    measured = undecided(Hypothesis("flatten-linear-mismatch", None, 1, "refuted", (evidence,)))
    assert heard.completed(measured, triage) == measured


def test_a_symptom_without_a_pattern_adds_nothing(tmp_path: Path) -> None:
    triage = heard.heard(run_of(tmp_path, "the command ended with exit code 7"))
    assert heard.order(triage) == {}
    assert heard.completed(undecided(), triage) == undecided()
