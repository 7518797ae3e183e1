"""Make a script of a few lines that fails as a recorded run did, with torch alone."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from firstcause.cli.output import write_json
from firstcause.errors import RecordError
from firstcause.minimize.reproduce import Reproduction, reproduce
from firstcause.record.folder import RunFolder
from firstcause.record.supervise import afterwards
from firstcause.schema import to_plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run",
        nargs="?",
        default="last",
        help="a run's folder or id, or a script, which is run first (default: the last run)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the script there (default: print it)")
    parser.add_argument(
        "--budget", type=float, default=60.0, metavar="SECONDS", help="at most this long (default: 60)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")


def main(args: argparse.Namespace) -> int:
    folder = _recorded(args.run) if os.path.isfile(args.run) else afterwards.found(args.run, os.getcwd())
    failures = folder.failures()
    if not failures:
        raise RecordError(
            "nothing-to-replay",
            f"{args.run} holds no failing step",
            "minimize a run that failed inside its loop",
        )
    result = reproduce(folder, failures[0], args.budget)
    if args.json:
        write_json(args.json, to_plain(result))
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(result.script)
        print(f"{args.output}: {_told(result)}")
    else:
        print(result.script, end="")
        print(f"# {_told(result)}")
    return 0


def _recorded(script: str) -> RunFolder:
    """The record of a script that is run now; what it prints stands before the result."""
    observed = [sys.executable, "-m", "firstcause", "run", "-q", "python", script]
    subprocess.run(observed, check=False, stdout=sys.stderr)
    return afterwards.found("last", os.getcwd())


def _told(result: Reproduction) -> str:
    return (
        f"{result.lines()} lines; {result.left} of the step's {result.calls} calls of torch are left, "
        f"{result.tried} programs were tried; it ends with: {result.ends}"
    )
