"""Approval through a real pseudo-terminal: a person can, and nothing else."""

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

from cli.test_main import COMMAND, run
from firstcause.case import CaseFolder, diagnosis_hash, diff_hash, find_case, open_case

CODE = re.compile(r"Type ([0-9A-Z]{6}) to approve")


@pytest.fixture
def folder(tmp_path: Path) -> CaseFolder:
    root = str(project(tmp_path))
    return find_case(root, open_case(root, "r1", f"{root}/runs/r1", diagnosis()).id)


def converse(cwd: Path, answers: Sequence[str]) -> tuple[int, str]:
    """Run `firstcause case approve` on a terminal of its own; "CODE" answers with the code that is shown."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [*COMMAND, "case", "approve"],
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
            piece = os.read(master, 65536).decode()
        except OSError:
            break
        shown += piece
        if shown.endswith("> ") and left:
            answer = left.pop(0)
            code = CODE.search(shown)
            if answer == "CODE" and code:
                answer = code[1].lower()
            os.write(master, answer.encode() + b"\n")
    os.close(master)
    return child.wait(30), shown.replace("\r\n", "\n")


def test_person_approves_once(folder: CaseFolder, tmp_path: Path) -> None:
    code, shown = converse(tmp_path, ["y", "t", "Y", "CODE"])
    assert code == 0, shown
    assert shown.startswith(f"case {folder.id} ")
    said = " ".join(shown.split())
    assert "│ + p = torch.sigmoid(logits).clamp(1e-6, 1 - 1e-6)" in said
    assert "1. Recorded: the loss became nan at step 118 (train.py:6)." in said
    assert "Targeted as shown (t), or broader (b)? > t 3. Afterwards: " in said
    approval = folder.progress().approval
    assert approval is not None
    assert (approval.diagnosis_hash, approval.diff_hash) == (
        diagnosis_hash(diagnosis()),
        diff_hash(diagnosis()),
    )
    assert approval.answers == {"symptom": "y", "scope": "t", "side-effect": "y"}
    assert " at /dev/pts/" in approval.by
    code, shown = converse(tmp_path, ["y", "t", "y", "CODE"])
    assert code == 2
    assert "nothing waits for an approval" in shown


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (["n"], "the symptom is another one"),
        (["yes please"], "answered 'yes please'"),
        (["y", "b"], "a broader fix is wanted"),
        (["y", "t", "n"], "the side effect is not acceptable"),
        (["y", "t", ""], "not answered"),
        (["y", "t", "y", "222222"], "the code is another one"),
        (["y", "t", "y", "\x04"], "the code is another one"),
        (["\x04"], "not answered"),
    ],
)
def test_any_other_answer_approves_nothing(
    folder: CaseFolder, tmp_path: Path, answers: list[str], told: str
) -> None:
    code, shown = converse(tmp_path, answers)
    assert code == 1
    assert told in shown
    assert folder.progress().case.state == "diagnosed"


def test_code_is_another_one_each_time(folder: CaseFolder, tmp_path: Path) -> None:
    codes = set()
    for _ in range(2):
        _, shown = converse(tmp_path, ["y", "t", "y", "no"])
        found = CODE.search(shown)
        assert found is not None
        codes.add(found[1])
    assert len(codes) == 2


@pytest.mark.parametrize("options", [(), ("--yes",), ("--force",), ("--by", "me")])
def test_without_a_terminal_nothing_is_approved(
    folder: CaseFolder, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = run("case", "approve", *options, cwd=tmp_path, FIRSTCAUSE_YES="1", CI="1")
    assert done.returncode == 2
    assert folder.progress().case.state == "diagnosed"
    if not options:
        assert done.stderr.splitlines()[0] == "firstcause: approval needs a person at a terminal"
        assert done.stdout == ""


def test_answers_from_a_pipe_are_no_person(folder: CaseFolder, tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "case", "approve"],
        cwd=tmp_path,
        input="y\nt\ny\nABCDEF\n",
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert "approval needs a person at a terminal" in done.stderr


def test_person_who_cannot_see_the_questions_is_not_asked(folder: CaseFolder, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    child = subprocess.run(
        [*COMMAND, "case", "approve"],
        cwd=tmp_path,
        stdin=slave,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    os.close(master)
    os.close(slave)
    assert child.returncode == 2
    assert "approval needs a person at a terminal" in child.stderr


@pytest.mark.parametrize("change", [{"status": "not-established", "cause": None}, {"fix": None}])
def test_incomplete_diagnosis_asks_nobody(tmp_path: Path, change: dict[str, object]) -> None:
    root = str(project(tmp_path))
    open_case(root, "r1", f"{root}/runs/r1", diagnosis(**change))  # type: ignore[arg-type]
    code, shown = converse(tmp_path, ["y", "t", "y", "CODE"])
    assert code == 2
    assert "> " not in shown
