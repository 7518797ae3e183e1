"""`firstcause case approve`: three questions and a code, asked of a person at a terminal and nobody else."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Callable
from typing import TextIO

from firstcause.case import (
    Progress,
    Question,
    approval_code,
    approve,
    decline,
    diagnosis_hash,
    diff_hash,
    has_patch,
    questions_of,
    require_other_approach,
    require_ready,
)
from firstcause.case.unrecorded import changed_since_run
from firstcause.cli.cases.place import chosen, person
from firstcause.cli.cases.show import show
from firstcause.errors import GateError
from firstcause.report.plain import plain, wrapped


def main(args: argparse.Namespace) -> int:
    """Ask for an approval; 0 approved, 1 not approved."""
    folder = chosen(args.case)
    progress = folder.progress()
    shown = progress.case.diagnosis
    if progress.case.state == "stopped" and shown is not None:
        require_other_approach(progress, shown)
    if progress.case.state != "diagnosed":
        message = f"case {folder.id} is {progress.case.state}: nothing waits for an approval"
        raise GateError("nothing-to-approve", message, f"firstcause case show {folder.id}")
    require_ready(progress.case.diagnosis)
    out = terminal()
    show(folder, progress, out)
    for changed in changed_since_run(folder):
        out.write(
            f"\n{plain(changed.path)} {changed.how} since the run was recorded, and nobody approved that.\n"
        )
    by = f"{person()} at {os.ttyname(sys.stdin.fileno())}"
    answers = ask(
        progress, out, sys.stdin.readline, lambda question, said: decline(folder, question, said, by)
    )
    if answers is None:
        return 1
    diagnosis = require_ready(progress.case.diagnosis)
    approve(folder, diagnosis_hash(diagnosis), diff_hash(diagnosis), by, answers)
    what = f"diff {diff_hash(diagnosis)[:12]}" if has_patch(diagnosis) else "this change by hand"
    out.write(f"\napproved for {what}, once\nnext: firstcause case apply\n")
    return 0


def terminal() -> TextIO:
    """The stream on which the person sees the questions.

    Raises ``GateError`` where standard input, or both outputs, are no terminal: an approval that a program
    could give is none.
    """
    shown = [stream for stream in (sys.stdout, sys.stderr) if stream.isatty()]
    if not sys.stdin.isatty() or not shown:
        message = "approval needs a person at a terminal"
        raise GateError("no-terminal", message, "type it at a terminal: firstcause case approve")
    return shown[0]


def ask(
    progress: Progress,
    out: TextIO,
    read: Callable[[], str],
    declined: Callable[[Question, str], object] = lambda question, said: None,
) -> dict[str, str] | None:
    """The person's answers to the gate's questions, or None where one of them stops the approval.

    ``declined`` is told which question that was, and what was answered.
    """
    diagnosis = require_ready(progress.case.diagnosis)
    answers: dict[str, str] = {}
    for number, question in enumerate(questions_of(progress), 1):
        out.write("\n" + "\n".join(wrapped(f"{number}. {question.text}", 78)) + "\n> ")
        out.flush()
        answer = plain(read()).strip().lower()
        if answer != question.accepts:
            given = f"answered {answer[:40]!r}" if answer else "not answered"
            if answer:
                declined(question, answer[:200])
            out.write(f"\nnot approved: {given}, {question.otherwise}\n")
            out.write(f'next: firstcause case reject --because "{question.otherwise}: …"\n')
            return None
        answers[question.key] = answer
    code = approval_code(diagnosis, secrets.token_hex(8))
    what = "this diff for these files" if has_patch(diagnosis) else "this change, to be made by hand"
    out.write(f"\nType {code} to approve {what}, once.\n> ")
    out.flush()
    if plain(read()).strip().upper() != code:
        out.write("\nnot approved: the code is another one\nnext: firstcause case approve\n")
        return None
    return answers
