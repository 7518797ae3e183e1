"""Diagnose a recorded run: the first cause, proven, or what evidence is missing; opens a case."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from typing import Any

from firstcause.case import class_of, open_case
from firstcause.cli.budget import add_budget
from firstcause.cli.output import look, source_lines, write_json
from firstcause.cli.progress import Progress, progress, stage
from firstcause.diagnose import diagnose as settle
from firstcause.diagnose.bounds import keeps_no_data, without_secrets
from firstcause.errors import RecordError
from firstcause.lab import executors
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import HOME, RunFolder
from firstcause.record.supervise import afterwards
from firstcause.report.json_file import diagnosis_to_json
from firstcause.report.terminal import render_diagnosis
from firstcause.sandbox import busy
from firstcause.schema import Case, Diagnosis

# The share of the budget for experiments; the rest is left to try the patch.
TESTING = 0.8
# What all questions of one diagnosis may take for their experiments, in budgets.
MOST_LABS = 1.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", help="a run's folder or id (default: the last one)")
    add_budget(parser, 120)
    parser.add_argument(
        "--yes", action="store_true", help="run the program again in sealed copies without asking"
    )
    parser.add_argument(
        "--theory",
        action="append",
        default=[],
        metavar="TEXT",
        help="what you suspect, in your words: settled beside the rest; may be given more than once",
    )
    parser.add_argument(
        "--times",
        type=int,
        default=0,
        metavar="N",
        help="run the program N more times in copies, and say how often it fails in the same way",
    )
    parser.add_argument(
        "--executor",
        metavar="NAME",
        help="run experiments side by side: cards, ray or submitit, with settings as in submitit:slurm_partition=gpu",
    )
    parser.add_argument("--json", metavar="FILE", help="write the diagnosis as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def main(args: argparse.Namespace) -> int:
    folder = afterwards.found_with_program(args.run, os.getcwd())
    run = folder.run()
    if not args.quiet:
        tell_damage(folder)
    began, stretched = time.monotonic(), busy.patience()
    budget = args.budget * stretched
    labs: list[Lab] = []

    @functools.cache
    def agreed() -> bool:
        if keeps_no_data(run) or not (args.yes or _agreed(run.seconds, shown)):
            return False
        if stretched > busy.NOTED and not args.quiet:
            with shown.silent():
                taken = f"the budget of {args.budget:.0f} s is taken as {budget:.0f} s"
                print(f"firstcause: other work keeps this machine busy: {taken}", file=sys.stderr)
        return True

    def place(failure: dict[str, Any]) -> Lab:
        # A second question has time of its own, and the whole an end.
        left = MOST_LABS * budget - (time.monotonic() - began)
        seconds = max(0.0, min(TESTING * budget, left))
        labs.append(Lab(folder, failure, seconds, agreed, executor=executor))
        return labs[-1]

    with (
        executors.opened(args.executor, folder) as executor,
        progress("diagnose", MOST_LABS * budget, args.quiet, lambda: stage(labs)) as shown,
    ):
        diagnosis = settle(folder, place, args.theory)
        if diagnosis.fix is not None and agreed():
            from firstcause.diagnose.trial import try_fix

            diagnosis = try_fix(folder, diagnosis, budget - (time.monotonic() - began))
        if args.times > 0 and diagnosis.symptom is not None and agreed():
            from firstcause.diagnose.history import again

            diagnosis = again(folder, run, diagnosis, args.times, budget - (time.monotonic() - began))
    diagnosis = without_secrets(diagnosis)
    opened = None
    if diagnosis.symptom is not None:
        try:
            opened = open_case(os.path.join(run.folder, HOME), run.id, folder.path, diagnosis)
        except RecordError as error:
            # A read-only or full disk takes no case; what was found is worth saying all the same.
            print(f"firstcause: no case was opened: {error}", file=sys.stderr)
    if args.json:
        write_json(args.json, diagnosis_to_json(diagnosis))
    if not args.quiet:
        color, width = look(sys.stdout)
        source = source_lines(diagnosis.site, run.folder)
        following = _following(opened, diagnosis)
        render_diagnosis(
            diagnosis, sys.stdout, color=color, width=width, source=source, next_command=following
        )
    return 3 if diagnosis.status == "not-established" else 0


def tell_damage(folder: RunFolder) -> None:
    """Say what of the journals cannot be read; what stands before and behind it is used all the same."""
    for name, reading in folder.journals().items():
        if reading.lost_bytes:
            print(
                f"firstcause: {reading.lost_bytes} bytes of {name}.journal are damaged; the rest of it was read",
                file=sys.stderr,
            )


def _following(case: Case | None, diagnosis: Diagnosis) -> str:
    """The command that comes next: an approval where there is something to approve, else a look at the case."""
    if case is None:
        return ""
    if case.state != "diagnosed":
        return f"firstcause case show {case.id}" if diagnosis.status == "established" else ""
    by_hand = diagnosis.fix is None and class_of(diagnosis) == "code"
    return "" if by_hand else f"firstcause case approve {case.id}"


def _agreed(took: float | None, shown: Progress) -> bool:
    """Ask once, with the cost, before the program is run again; without a terminal the answer is no."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    with shown.silent():
        print(
            f"To test this, the program must run again in sealed copies (it took {took or 0:.0f} s). Run it? [y/N] ",
            end="",
            flush=True,
        )
        return sys.stdin.readline().strip().lower() in ("y", "yes")
