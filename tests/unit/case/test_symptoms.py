"""Several symptoms in one case: their order, and what became of each after a verified fix."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from case.samples import SITE, diagnosis, unified
from case.test_case import approved, events, opened
from firstcause.case import CaseFolder, Verification, apply, close, next_step, open_case, verify
from firstcause.case.symptoms import Tracked, ordered, retested, same
from firstcause.schema import Site, Symptom, to_plain

NAN = Symptom("nan", "the loss became nan", SITE, 118)
LATER = Symptom("exception", "KeyError: 'eval'", Site("train.py", 40, "main", "x = d['eval']"), 300)
SHORT = Symptom("expectation", "val_acc > 0.5 was expected, and it was 0.2 (last)")


def showing(*observed: Symptom, steps: int = 500, code: int | None = 1) -> Verification:
    """A second run that came to so many steps and showed these."""
    failing = [s.message for s in observed]
    values: dict[str, Any] = {"steps": steps, "exit_code": code, "observed": to_plain(observed)}
    return Verification(not observed and code == 0, "; ".join(failing) or "ran to its end", values)


def several(root: str, *more: Symptom) -> CaseFolder:
    path = Path(root, "runs", "r1", "run.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "symptoms": to_plain([NAN, *more])}))
    return opened(root)


def fixed(folder: CaseFolder, cwd: Path) -> None:
    approved(folder)
    apply(folder, str(cwd))


def test_order_is_by_what_it_ends() -> None:
    signal = Symptom("signal", "ended by SIGSEGV")
    early = replace(NAN, step=3)
    slow = Symptom("no-learning", "the loss stands still")
    assert ordered([SHORT, slow, NAN, LATER, signal]) == (signal, LATER, NAN, slow, SHORT)
    assert ordered([NAN, early]) == (early,)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (NAN, replace(NAN, message="3 gradients are not finite", step=7, site=None), True),
        (LATER, replace(LATER, site=Site("train.py", 44, "main", "  x = d['eval']"), step=None), True),
        (LATER, replace(LATER, message="ValueError: 'eval'"), False),
        (LATER, replace(LATER, site=Site("train.py", 40, "main", "y = d['eval']")), False),
        (LATER, replace(LATER, site=None), False),
        (SHORT, replace(SHORT, message="val_acc > 0.5 was expected, and it was 0.4 (last)"), True),
        (SHORT, replace(SHORT, message="val_f1 > 0.5 was expected, and it was 0.2 (last)"), False),
        (NAN, LATER, False),
    ],
)
def test_one_symptom_seen_twice(one: Symptom, other: Symptom, is_same: bool) -> None:
    assert same(one, other) is same(other, one) is is_same


@pytest.mark.parametrize(
    ("result", "passed", "outcomes"),
    [
        (showing(code=0), True, ["gone", "gone", "gone"]),
        (showing(LATER), True, ["unchanged", "gone", "untested"]),
        (showing(NAN), False, ["gone", "unchanged", "untested"]),
        (showing(replace(NAN, step=400)), False, ["gone", "unchanged", "untested"]),
        (showing(LATER, NAN), False, ["unchanged", "unchanged", "untested"]),
        (showing(LATER, SHORT, code=0), True, ["unchanged", "gone", "unchanged"]),
        # It failed before it came to where the symptom was: nothing is known of it.
        (showing(LATER, steps=60), False, ["unchanged", "gone", "untested"]),
        # Another failure in its place, and one beyond it.
        (
            showing(replace(LATER, message="TypeError: x", step=118)),
            False,
            ["gone", "gone", "untested", "new"],
        ),
        (
            showing(replace(LATER, message="TypeError: x", step=119)),
            True,
            ["gone", "gone", "untested", "new"],
        ),
        (
            showing(replace(LATER, message="TypeError: x", step=None)),
            False,
            ["gone", "gone", "untested", "new"],
        ),
        (Verification(False, "no record"), False, ["untested", "unchanged", "untested"]),
        (showing(steps=200, code=None), False, ["untested", "unchanged", "untested"]),
    ],
)
def test_outcomes_of_a_second_run(result: Verification, passed: bool, outcomes: list[str]) -> None:
    tracked = [Tracked(s) for s in ordered([NAN, LATER, SHORT])]
    got, after = retested(tracked, NAN, result)
    assert got is passed
    assert [outcome for _, outcome in after] == outcomes


def test_rest_is_tested_again_and_the_case_goes_on(root: str) -> None:
    cwd = Path(root).parent
    folder = several(root, LATER, SHORT)
    assert [t.symptom for t in folder.progress().symptoms] == [LATER, NAN, SHORT]
    fixed(folder, cwd)
    third = replace(LATER, message="TypeError: x", step=320)
    verification, progress = verify(folder, str(cwd), lambda: showing(LATER, third))
    assert verification.passed
    assert [(t.symptom, t.outcome) for t in progress.symptoms] == [
        (LATER, "unchanged"), (third, "new"), (NAN, "gone"), (SHORT, "untested")]  # fmt: skip
    assert [t.symptom for t in progress.remaining] == [LATER, third, SHORT]
    assert (progress.case.state, progress.case.strikes) == ("hypotheses", 0)
    assert progress.case.diagnosis is not None
    assert progress.case.diagnosis.symptom == LATER
    assert "firstcause run" in next_step(progress)
    # A record of the program as it is now goes on with the same case.
    run = Path(root, "runs", "r2")
    run.mkdir()
    record = json.loads(Path(root, "runs", "r1", "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**record, "id": "r2", "symptoms": to_plain([LATER])}))
    second = diagnosis("key-missing", symptom=LATER, diff=unified({"data.py": ("SEED = 1\n", "SEED = 2\n")}))
    assert open_case(root, "r2", str(run), second).id == folder.id
    assert events(folder)[-3:] == ["continued", "hypotheses", "diagnosed"]
    assert folder.progress().case.run == "r2"
    fixed(folder, cwd)
    assert verify(folder, str(cwd), lambda: showing(code=0))[1].case.state == "verified"
    assert {t.outcome for t in folder.progress().symptoms} == {"gone"}
    close(folder, "two faults")
    text = Path(folder.path, "retrospective.md").read_text()
    assert "- KeyError: 'eval' at step 300 (train.py:40): gone" in text


def test_run_of_another_command_opens_its_own_case(root: str) -> None:
    cwd = Path(root).parent
    folder = several(root, LATER)
    fixed(folder, cwd)
    verify(folder, str(cwd), lambda: showing(LATER))
    run = Path(root, "runs", "r2")
    run.mkdir()
    record = json.loads(Path(root, "runs", "r1", "run.json").read_text())
    other = {**record, "id": "r2", "command": ["python", "eval.py"]}
    (run / "run.json").write_text(json.dumps(other))
    assert open_case(root, "r2", str(run), diagnosis(symptom=LATER)).id != folder.id


def test_continuing_needs_something_left_over(root: str) -> None:
    folder = opened(root, diagnosis(status="not-established", cause=None))
    with pytest.raises(Exception, match="no symptom left over"), folder.writing() as writer:
        writer.append("continued", run="r2", run_folder="elsewhere")
    assert events(folder) == ["opened", "characterised", "hypotheses"]


def test_failed_fix_leaves_the_symptoms_as_they_were(root: str) -> None:
    cwd = Path(root).parent
    folder = several(root, LATER)
    before = folder.progress().symptoms
    fixed(folder, cwd)
    verification, progress = verify(folder, str(cwd), lambda: showing(NAN))
    assert (verification.passed, progress.case.strikes, progress.symptoms) == (False, 1, before)


def test_gate_names_the_other_symptoms(root: str) -> None:
    folder = several(root, LATER)
    fixed(folder, Path(root).parent)
    approval = folder.progress().attempts[-1].approval
    assert approval is not None
    assert "Beside it: KeyError: 'eval' at step 300 (train.py:40)." in approval.asked["symptom"]
    assert approval.answers == {"symptom": "y", "scope": "t", "side-effect": "y"}
    assert os.path.basename(folder.path) == folder.id
