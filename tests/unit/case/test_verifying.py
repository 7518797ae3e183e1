"""What a verification is refused for, and what a second run's figures say of each symptom."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import diagnosis
from case.test_case import approved, events, opened
from case.test_symptoms import LATER, NAN, SHORT, showing
from firstcause.case import Change, Verification, apply, reject, try_fix, verify
from firstcause.case.symptoms import CRITICALITY, Tracked, ordered, retested
from firstcause.errors import GateError
from firstcause.schema import Symptom


def test_nothing_to_verify_says_where_the_case_stands(root: str) -> None:
    folder = opened(root)
    with pytest.raises(GateError) as raised:
        verify(folder, os.path.dirname(root), lambda: pytest.fail("the program must not run"))
    assert raised.value.slug == "nothing-to-verify"
    assert raised.value.message == f"case {folder.id} is diagnosed: no applied fix waits for a verification"


def test_case_that_another_process_changed_meanwhile_is_not_verified(root: str) -> None:
    cwd = os.path.dirname(root)
    folder = opened(root)
    approved(folder)
    apply(folder, cwd)

    def meanwhile() -> Verification:
        reject(folder, "done otherwise", "ada")
        return Verification(True, "fine")

    with pytest.raises(GateError, match="was changed by another process while the program ran") as raised:
        verify(folder, cwd, meanwhile)
    assert raised.value.slug == "nothing-to-verify"
    assert events(folder)[-1] == "rejected"


def test_what_is_verified_is_what_is_returned(root: str) -> None:
    folder = opened(root)
    with pytest.raises(GateError, match="no cause is established"):
        try_fix(
            opened(root, diagnosis(status="not-established", cause=None)), lambda _: Verification(True, "")
        )
    opened(root)
    tried, progress = try_fix(folder, lambda diff: Verification("1e-6" in diff, "in a copy", {"loss": 1.5}))
    assert (tried.passed, progress.case.state, progress.events) == (True, "diagnosed", len(events(folder)))
    approved(folder)
    apply(folder, os.path.dirname(root))
    # A run that fails later in another way: the fix passed, though the run did not.
    verification, progress = verify(folder, os.path.dirname(root), lambda: showing(LATER))
    assert (verification.passed, verification.text) == (True, "KeyError: 'eval'")
    assert (progress.attempts[-1].passed, progress.verification) == (True, "KeyError: 'eval'")


def test_patch_that_is_only_half_in_its_files_is_not_verified(root: str) -> None:
    folder = opened(root)
    approved(folder)
    with folder.writing() as writer:
        writer.append("applying", files={"train.py": Change("a", "b")})
    with pytest.raises(GateError, match="is approved: no applied fix waits for a verification"):
        verify(folder, os.path.dirname(root), lambda: pytest.fail("the program must not run"))


def test_symptom_that_was_worded_otherwise_is_still_the_one_worked_on() -> None:
    seen_by_the_diagnosis = replace(NAN, message="a gradient is not finite", step=117)
    nothing = Verification(False, "no record")
    assert retested([Tracked(NAN)], seen_by_the_diagnosis, nothing) == (False, ((NAN, "unchanged"),))
    assert retested([Tracked(NAN)], seen_by_the_diagnosis, showing(LATER, steps=60))[1][0] == (NAN, "gone")


def test_symptom_that_no_case_knew_is_worked_on_all_the_same() -> None:
    passed, after = retested([], NAN, showing(code=0))
    assert (passed, after) == (True, ((NAN, "gone"),))
    passed, after = retested([Tracked(NAN, "gone")], None, showing(LATER))
    assert (passed, after) == (False, ((LATER, "new"),))
    assert retested([Tracked(LATER)], None, showing(code=0)) == (True, ((LATER, "gone"),))


@pytest.mark.parametrize(
    ("steps", "outcome"), [(301, "untested"), (302, "gone"), (None, "untested"), ("many", "untested")]
)
def test_symptom_is_gone_where_the_run_went_beyond_its_step(steps: object, outcome: str) -> None:
    result = Verification(False, "t", {"steps": steps, "exit_code": 1, "observed": []})
    assert dict(retested([Tracked(LATER)], None, result)[1])[LATER] == outcome
    no_step = replace(LATER, step=None)
    assert dict(retested([Tracked(no_step)], None, result)[1])[no_step] == "untested"


def test_run_that_ended_well_tells_of_what_it_can_tell_by_itself() -> None:
    ended = Verification(True, "ran to its end")
    tracked = [Tracked(Symptom(kind, kind)) for kind in CRITICALITY]  # type: ignore[arg-type]
    outcomes = {s.kind: outcome for s, outcome in retested(tracked, None, ended)[1]}
    assert outcomes == {
        "signal": "gone", "exception": "gone", "exit-code": "gone", "nan": "gone", "expectation": "gone",
        "divergence": "untested", "invariant": "untested", "no-learning": "untested"}  # fmt: skip
    assert dict(retested([Tracked(NAN)], None, Verification(False, "x"))[1])[NAN] == "untested"
    assert (
        dict(retested([Tracked(NAN)], None, Verification(True, "x", {"exit_code": 1}))[1])[NAN] == "untested"
    )


def test_order_within_one_kind() -> None:
    def error(name: str, step: int | None, rank: int = 0) -> Symptom:
        return Symptom("exception", f"{name}: x", None, step, rank)

    late, soon, never, other = error("A", 9), error("B", 2), error("C", None), error("D", 2, 1)
    assert ordered([never, late, other, soon, SHORT]) == (soon, other, late, never, SHORT)


def test_program_is_not_run_where_a_file_is_not_as_approved(root: str) -> None:
    folder = opened(root)
    approved(folder)
    apply(folder, os.path.dirname(root))
    Path(root, "..", "data.py").write_text("SEED = 7\n")
    with pytest.raises(GateError) as raised:
        verify(folder, os.path.dirname(root), lambda: pytest.fail("the program must not run"))
    assert raised.value.hint == "put it back and verify again, or: firstcause case reject --because TEXT"
    assert events(folder)[-1] == "voided"
