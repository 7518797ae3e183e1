"""What only a person at a terminal can say, through real pseudo-terminals."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from case.samples import diagnosis, project
from case.test_faults import COMMAND, inside
from case.test_strikes import fail
from case.test_weighing import attempt
from firstcause.case import CaseFolder, find_case, open_case

CODE = re.compile(r"Type ([0-9A-Z]{6}) to approve")


def converse(cwd: Path, step: str, answers: Sequence[str]) -> tuple[int, str]:
    """Run a step of `firstcause case` on a terminal of its own; "CODE" answers with the code that is shown."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [*COMMAND, "case", step],
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "80"},
    )
    os.close(slave)
    shown, left, deadline = "", list(answers), time.monotonic() + 30
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 0.1)[0]:
            continue
        try:
            shown += os.read(master, 65536).decode()
        except OSError:
            break
        if shown.endswith("> ") and left:
            answer, code = left.pop(0), CODE.search(shown)
            os.write(master, (code[1] if answer == "CODE" and code else answer).encode() + b"\n")
    os.close(master)
    return child.wait(30), shown.replace("\r\n", "\n")


def opened(cwd: Path, cause: str, by_hand: bool) -> CaseFolder:
    root = str(project(cwd))
    shown = diagnosis(cause, fix=None) if by_hand else diagnosis(cause)
    return find_case(root, open_case(root, "r1", f"{root}/runs/r1", shown).id)


@pytest.mark.parametrize(
    ("answers", "kept"),
    [
        (["y", "b"], "b: a broader fix is wanted (The fix is targeted: "),
        (["n"], "n: the symptom is another one ("),
    ],
)
def test_answer_that_keeps_a_fix_back_is_kept(tmp_path: Path, answers: list[str], kept: str) -> None:
    folder = opened(tmp_path, "log-of-zero", by_hand=False)
    code, shown = converse(tmp_path, "approve", answers)
    assert code == 1, shown
    (remark,) = folder.progress().declined
    assert remark.text.startswith(kept)
    assert " at /dev/pts/" in remark.by
    assert folder.progress().case.state == "diagnosed"
    assert "Not Approved" in inside(tmp_path, "show").stdout


def test_second_question_offers_the_broader_way(tmp_path: Path) -> None:
    opened(tmp_path, "log-of-zero", by_hand=False)
    said = " ".join(converse(tmp_path, "approve", ["y", "b"])[1].split())
    assert "lines removed 1, added 1, in train.py." in said
    assert "The broader way, by hand: Work on logits: F.logsigmoid" in said


def test_stopped_case_tells_its_lessons_when_an_approval_is_asked_for(tmp_path: Path) -> None:
    root = str(project(tmp_path))
    for number in (1, 2, 3):
        fail(root, attempt(root, number), f"lesson {number}")
    done = inside(tmp_path, "approve")
    assert done.returncode == 2
    assert "stopped" in done.stderr
    shown = inside(tmp_path, "show").stdout
    assert all(f"lesson {number}" in shown for number in (1, 2, 3))
    from case.test_case import opened as diagnosed

    diagnosed(root, attempt(root, 4))
    assert inside(tmp_path, "approve").returncode == 2


def test_design_by_hand_from_the_approval_to_the_fix(tmp_path: Path) -> None:
    folder = opened(tmp_path, "learning-rate-too-high", by_hand=True)
    code, shown = converse(tmp_path, "approve", ["y", "t", "y", "CODE"])
    assert code == 0, shown
    assert "approved for this change by hand, once" in shown
    done = inside(tmp_path, "apply")
    assert (done.returncode, done.stderr) == (
        1,
        "no file has changed yet: change what it says\nnext: firstcause case apply\n",
    )
    assert "by hand: train.py:5: clamp at 1e-6" in " ".join(done.stdout.split())
    (tmp_path / "data.py").write_text("SEED = 1\nLR = 1e-4\n")
    done = inside(tmp_path, "apply")
    assert done.returncode == 2
    assert "approval needs a person at a terminal" in done.stderr
    assert converse(tmp_path, "apply", ["222222"])[0] == 1
    assert folder.progress().case.state == "approved"
    code, shown = converse(tmp_path, "apply", ["CODE"])
    assert code == 0, shown
    assert "data.py  " in shown
    assert folder.progress().case.state == "fixed"
    page = inside(tmp_path, "show").stdout
    assert "B design: " in page
    assert "Asked And Answered" in page
    (tmp_path / "data.py").write_text("SEED = 1\nLR = 1e-5\n")
    done = inside(tmp_path, "verify")
    assert done.returncode == 2
    assert "data.py changed since the fix was approved, and nobody approved that: not verified" in done.stderr


def test_environment_needs_no_file(tmp_path: Path) -> None:
    folder = opened(tmp_path, "nan-in-data", by_hand=True)
    assert converse(tmp_path, "approve", ["y", "t", "y", "CODE"])[0] == 0
    done = inside(tmp_path, "apply")
    assert (done.returncode, done.stderr) == (0, "")
    assert folder.progress().case.state == "fixed"


def test_change_before_the_patch_is_said_at_once(tmp_path: Path) -> None:
    opened(tmp_path, "log-of-zero", by_hand=False)
    assert converse(tmp_path, "approve", ["y", "t", "y", "CODE"])[0] == 0
    (tmp_path / "data.py").write_text("SEED = 2\n")
    done = inside(tmp_path, "apply")
    assert done.returncode == 0
    assert done.stderr == (
        "data.py changed since the approval, and nobody approved that: nothing is verified until it is put back\n"
    )
