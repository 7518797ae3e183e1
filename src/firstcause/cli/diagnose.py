"""Diagnose a recorded run: the first cause, proven, or what evidence is missing; opens a case."""

from __future__ import annotations

import argparse
import functools
import os
import re
import sys
import time

from firstcause.case import open_case
from firstcause.cli.output import look, source_lines, write_json
from firstcause.diagnose import diagnose as settle
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import HOME, find_run
from firstcause.report.json_file import diagnosis_to_json
from firstcause.report.terminal import render_diagnosis

# The share of the budget for experiments; the rest is left to try the patch.
TESTING = 0.7


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", help="a run's folder or id (default: the last one)")
    parser.add_argument(
        "--budget",
        type=seconds,
        default=120.0,
        metavar="TIME",
        help="at most this long, such as 90s or 5m (default: 120s)",
    )
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
    parser.add_argument("--json", metavar="FILE", help="write the diagnosis as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def seconds(text: str) -> float:
    """A time such as 90, 90s or 5m in seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90s or 5m")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600, None: 1}[match[2]]


def main(args: argparse.Namespace) -> int:
    folder = find_run(args.run, os.getcwd())
    run = folder.run()
    began = time.monotonic()
    agreed = functools.cache(lambda: args.yes or _agreed(run.seconds))
    diagnosis = settle(
        folder, lambda failure: Lab(folder, failure, TESTING * args.budget, agreed), args.theory
    )
    if diagnosis.fix is not None and agreed():
        from firstcause.diagnose.trial import try_fix

        diagnosis = try_fix(folder, diagnosis, args.budget - (time.monotonic() - began))
    if args.times > 0 and diagnosis.symptom is not None and agreed():
        from firstcause.diagnose.history import again

        diagnosis = again(folder, run, diagnosis, args.times, args.budget - (time.monotonic() - began))
    opened = None
    if diagnosis.symptom is not None:
        opened = open_case(os.path.join(run.folder, HOME), run.id, folder.path, diagnosis)
    if args.json:
        write_json(args.json, diagnosis_to_json(diagnosis))
    if not args.quiet:
        color, width = look(sys.stdout)
        source = source_lines(diagnosis.site, run.folder)
        following = (
            f"firstcause case approve {opened.id}" if opened is not None and diagnosis.fix is not None else ""
        )
        render_diagnosis(
            diagnosis, sys.stdout, color=color, width=width, source=source, next_command=following
        )
    return 3 if diagnosis.status == "not-established" else 0


def _agreed(took: float | None) -> bool:
    """Ask once, with the cost, before the program is run again; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        return False
    print(
        f"To test this, the program must run again in sealed copies (it took {took or 0:.0f} s). Run it? [y/N] ",
        end="",
        flush=True,
    )
    return sys.stdin.readline().strip().lower() in ("y", "yes")
