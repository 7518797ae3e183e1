"""Measure how fast a training's steps are, where their time goes, and what makes them faster; or read a trace of yours."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from firstcause.cli.budget import add_budget
from firstcause.cli.output import look, write_json
from firstcause.cli.progress import progress, stage
from firstcause.diagnose.speed import profile
from firstcause.errors import InputError
from firstcause.lab.counterfactual import Lab
from firstcause.record import traces
from firstcause.record.folder import RunFolder
from firstcause.record.kept_looks import keep
from firstcause.record.supervise import afterwards, anew
from firstcause.report.json_file import diagnosis_to_json
from firstcause.report.profile_page import render_profile
from firstcause.report.trace_page import render_trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        dest="trace",
        metavar="TRACE",
        help="read this trace of torch.profiler (JSON) or memory snapshot (pickle) instead of running a command",
    )
    parser.add_argument("--run", metavar="RUN", help="measure a recorded run again instead of a command")
    add_budget(parser, 180)
    parser.add_argument("--json", metavar="FILE", help="write what was found as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing of our own")
    parser.add_argument("command", nargs="*", help="the command, as you would type it")
    parser.set_defaults(instead_of_command=("trace", "run"))


def main(args: argparse.Namespace) -> int:
    color, width = look(sys.stdout)
    if args.trace:
        read = traces.read(args.trace)
        if args.json:
            write_json(args.json, read.plain())
        if not args.quiet and args.json != "-":
            render_trace(read, sys.stdout, color=color, width=width)
        return 0
    folder = _recorded(args)
    lab = Lab(folder, {}, args.budget)
    with progress("profile", args.budget, args.quiet, lambda: stage([lab])):
        found = profile(folder, lab)
    if not found.why:
        # For the page of the run.
        keep(folder, found.kept())
    if args.json:
        diagnosis = diagnosis_to_json(found.diagnosis) if found.diagnosis is not None else None
        write_json(args.json, found.plain() | {"diagnosis": diagnosis})
    if not args.quiet and args.json != "-":
        render_profile(found, sys.stdout, color=color, width=width)
    return 3 if found.why else 0


def _recorded(args: argparse.Namespace) -> RunFolder:
    """The run to measure: one that was recorded, or the command's, recorded now."""
    if args.run:
        return afterwards.found_with_program(args.run, os.getcwd())
    if not args.command:
        raise InputError("no-command", "there is no command to profile", "firstcause profile python train.py")
    with tempfile.TemporaryDirectory(prefix="firstcause-") as scratch:
        answer = os.path.join(scratch, "run.json")
        code = subprocess.call([sys.executable, "-m", "firstcause", *anew.words(args.command, answer)])
        recorded = anew.run_of(answer, os.getcwd())
    if code != 0:
        raise InputError(
            "profile-failed",
            f"the command ended with exit code {code}: how fast a failing program is says nothing",
            "firstcause diagnose last",
        )
    return recorded
