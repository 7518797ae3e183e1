"""Fixes of class B and C: approved, carried out by hand, confirmed, and verified like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import TEXTS, diagnosis
from case.test_case import approved, events, opened
from firstcause import catalog
from firstcause.case import (
    LETTERS,
    MEANING,
    CaseFolder,
    Change,
    Verification,
    apply,
    apply_by_hand,
    changed_by_hand,
    class_of,
    questions,
    try_fix,
    verify,
)
from firstcause.errors import GateError
from firstcause.schema import Diagnosis


def by_hand(cause: str) -> Diagnosis:
    return diagnosis(cause, fix=None)


def waiting(root: str, cause: str) -> tuple[CaseFolder, Path]:
    folder = opened(root, by_hand(cause))
    approved(folder)
    return folder, Path(root).parent


def test_every_cause_has_a_class_with_a_meaning() -> None:
    kinds = {slug: class_of(by_hand(slug)) for slug in catalog.slugs()}
    assert set(kinds.values()) == set(LETTERS) == set(MEANING)
    assert kinds["log-of-zero"] == class_of(by_hand("dropped-from-the-catalogue")) == "code"
    assert (kinds["learning-rate-too-high"], kinds["nan-in-data"]) == ("design", "environment")


@pytest.mark.parametrize(
    ("cause", "said_by_the_fix", "kind"),
    [
        ("log-of-zero", "code", "code"),
        ("log-of-zero", "design", "design"),
        ("log-of-zero", "environment", "environment"),
        ("log-of-zero", "weather", "code"),
        # Every fix says code that says nothing else: there the catalogue knows better.
        ("nan-in-data", "code", "environment"),
        ("nan-in-data", "design", "design"),
        ("nan-in-data", "weather", "environment"),
    ],
)
def test_class_is_the_one_of_the_fix_or_else_of_the_cause(
    cause: str, said_by_the_fix: str, kind: str
) -> None:
    shown = diagnosis(cause)
    assert shown.fix is not None
    assert class_of(replace(shown, fix=replace(shown.fix, category=said_by_the_fix))) == kind


def test_questions_of_a_change_by_hand() -> None:
    _, scope, _ = questions(by_hand("learning-rate-too-high"))
    assert f"no patch, a change of the design by hand (class B): {TEXTS[3]}" in scope.text
    assert catalog.cause("learning-rate-too-high").fix in scope.text


def test_design_is_changed_by_hand_and_verified(root: str) -> None:
    folder, cwd = waiting(root, "learning-rate-too-high")
    with pytest.raises(GateError, match="a person carries it out"):
        apply(folder, str(cwd))
    with pytest.raises(GateError, match="no patch that could be tried"):
        try_fix(folder, lambda diff: pytest.fail("there is nothing to try"))
    with pytest.raises(GateError, match="no file has changed since the approval"):
        apply_by_hand(folder, str(cwd), {}, "ada")
    (cwd / "data.py").write_text("SEED = 1\nLR = 1e-4\n")
    changes = changed_by_hand(folder, str(cwd))
    assert list(changes) == ["data.py"]
    with pytest.raises(GateError, match="not the ones that were confirmed"):
        apply_by_hand(folder, str(cwd), {"data.py": Change("", "")}, "ada")
    assert events(folder)[-1] == "approved"
    progress = apply_by_hand(folder, str(cwd), changes, "ada")
    assert (progress.case.state, progress.attempts[-1].summary) == ("fixed", TEXTS[3])
    (cwd / "train.py").write_text("pass\n")
    with pytest.raises(GateError, match=r"train\.py changed"):
        verify(folder, str(cwd), lambda: pytest.fail("the program must not run"))


def test_environment_is_set_right_outside_of_the_files(root: str) -> None:
    folder, cwd = waiting(root, "nan-in-data")
    assert apply_by_hand(folder, str(cwd), changed_by_hand(folder, str(cwd)), "ada").case.state == "fixed"
    assert verify(folder, str(cwd), lambda: Verification(True, "fine"))[1].case.state == "verified"


def test_failed_change_by_hand_is_a_strike(root: str) -> None:
    for number in (1, 2, 3):
        folder, cwd = waiting(root, "learning-rate-too-high")
        (cwd / "data.py").write_text(f"LR = {number}\n")
        apply_by_hand(folder, str(cwd), changed_by_hand(folder, str(cwd)), "ada")
        verify(folder, str(cwd), lambda: Verification(False, "still diverges"))
    assert folder.progress().case.state == "stopped"


def test_one_approval_is_for_one_change(root: str) -> None:
    folder, cwd = waiting(root, "nan-in-data")
    apply_by_hand(folder, str(cwd), {}, "ada")
    for act in (
        lambda: apply_by_hand(folder, str(cwd), {}, "ada"),
        lambda: changed_by_hand(folder, str(cwd)),
    ):
        with pytest.raises(GateError, match="no approval is waiting"):
            act()


def test_patch_is_not_applied_by_hand(root: str) -> None:
    folder = opened(root)
    approved(folder)
    with pytest.raises(GateError, match="has a patch"):
        changed_by_hand(folder, str(Path(root).parent))
