"""Replay the failing step of a run in a fresh sealed process, and say whether it is exact."""

from __future__ import annotations

import argparse
import os

from firstcause.cli.output import write_json
from firstcause.errors import RecordError
from firstcause.lab.again import replay_fresh
from firstcause.record.folder import find_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", help="a run's folder or id (default: the last one)")
    parser.add_argument(
        "--budget", type=float, default=300.0, metavar="SECONDS", help="at most this long (default: 300)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")


def main(args: argparse.Namespace) -> int:
    folder = find_run(args.run, os.getcwd())
    failures = folder.failures()
    if not failures:
        raise RecordError(
            "nothing-to-replay",
            f"{args.run} holds no failing step",
            "replay a run that failed inside its loop",
        )
    failure = failures[0]
    result = replay_fresh(folder, failure, args.budget)
    if args.json:
        write_json(args.json, result)
    compared = (
        f"{result['equal']} of {result['gradients']} gradients equal bit for bit"
        if "gradients" in result
        else "the same exception at the same line"
    )
    if result["exact"]:
        print(f"step {failure['step']} replayed exactly in a fresh process: {compared}")
        return 0
    print(f"step {failure['step']} was not replayed exactly: {result['why']}")
    return 3
