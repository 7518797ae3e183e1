"""What an approval lets through, and what it does not."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from case.samples import FIXED, PROGRAM, diagnosis, unified
from case.test_case import approved, events, opened
from firstcause.case import (
    Change,
    Verification,
    apply,
    apply_by_hand,
    changed_by_hand,
    try_fix,
    verify,
)
from firstcause.case.applying import _approved
from firstcause.errors import GateError, RecordError
from firstcause.fix.writing import file_hash
from firstcause.schema import Fix

DESIGN = "learning-rate-too-high"


def test_what_a_killed_apply_left_is_cleared_and_nothing_else(root: str) -> None:
    cwd = Path(root).parent
    left = cwd / ".train.py.01234567.firstcause"
    others = [cwd / name for name in (".data.py.01234567.firstcause", ".train.py.swp", "train.py.firstcause")]
    for path in (left, *others):
        path.write_text("half a fi")
    folder = opened(root)
    approved(folder)
    apply(folder, str(cwd))
    assert not left.exists()
    assert all(path.exists() for path in others)


@pytest.mark.parametrize("field", ["diagnosis_hash", "diff_hash"])
def test_approval_for_something_else_is_refused_at_the_last_moment(root: str, field: str) -> None:
    folder = opened(root)
    approved(folder)
    progress = folder.progress()
    assert progress.approval is not None
    other = replace(progress, approval=replace(progress.approval, **{field: "0" * 64}))
    writer = cast(Any, SimpleNamespace(progress=other))
    with pytest.raises(GateError, match="is for another diagnosis or diff") as raised:
        _approved(folder, writer)
    assert raised.value.slug == "approval-for-another"


def test_what_waits_is_said_in_the_refusal(root: str) -> None:
    folder = opened(root)
    with pytest.raises(GateError) as raised:
        apply(folder, os.path.dirname(root))
    assert raised.value.message == f"case {folder.id} is diagnosed: no approval is waiting to be used"


@pytest.mark.parametrize("diff", ["", " \n"])
def test_fix_with_an_empty_patch_is_by_hand(root: str, diff: str) -> None:
    cwd = os.path.dirname(root)
    empty = Fix(DESIGN, diff, "A tenth of the rate.", "It learns slower.", "The data.")
    folder = opened(root, diagnosis(DESIGN, fix=empty))
    approved(folder)
    with pytest.raises(GateError, match="has no patch: a person carries it out") as raised:
        apply(folder, cwd)
    assert "clamp at 1e-6" in raised.value.hint
    with pytest.raises(GateError, match="no patch that could be tried"):
        try_fix(folder, lambda text: pytest.fail("there is nothing to try"))
    assert events(folder)[-1] == "approved"


def test_module_added_by_hand_is_part_of_the_fix_and_the_next_one_is_not(root: str) -> None:
    cwd = Path(root).parent
    folder = opened(root, diagnosis(DESIGN, fix=None))
    approved(folder)
    (cwd / "schedule.py").write_text("LR = 1e-4\n")
    changes = changed_by_hand(folder, str(cwd))
    assert changes == {"schedule.py": Change("", file_hash(str(cwd / "schedule.py")))}
    apply_by_hand(folder, str(cwd), changes, "ada")
    (cwd / "torch.py").write_text("nan = 0\n")
    with pytest.raises(GateError, match=r"^torch\.py was added since"):
        verify(folder, str(cwd), lambda: Verification(True, "fine"))


def test_patch_is_kept_before_a_file_is_touched(root: str) -> None:
    cwd = Path(root).parent
    folder = opened(root, diagnosis(diff=unified({"train.py": (PROGRAM, FIXED)}).rstrip("\n")))
    approved(folder)
    kept = Path(folder.file("patch-1.diff"))
    kept.mkdir()
    with pytest.raises(RecordError, match=r"patch-1\.diff cannot be written") as raised:
        apply(folder, str(cwd))
    assert raised.value.slug == "case-unwritable"
    assert (cwd / "train.py").read_text() == PROGRAM
    assert events(folder)[-1] == "approved"
    kept.rmdir()
    apply(folder, str(cwd))
    assert (cwd / "train.py").read_text() == FIXED
    assert kept.read_text() == unified({"train.py": (PROGRAM, FIXED)})
