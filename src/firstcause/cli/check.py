"""Read code before it runs: faults, and what differs from what was asked for.

Exit code 0 where nothing of error severity stands, 1 where something does, 2 for a path or an option that cannot be used.
"""

from __future__ import annotations

import argparse
import os

from firstcause.check.pipeline import check
from firstcause.cli.brief import read_text
from firstcause.cli.output import write_json
from firstcause.report.check_json import report_to_json
from firstcause.report.check_text import concise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders of code")
    parser.add_argument(
        "--brief",
        action="append",
        default=[],
        metavar="FILE",
        help="what was asked for, in the user's words; repeatable",
    )
    parser.add_argument("--json", metavar="FILE", help="write the findings as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def main(args: argparse.Namespace) -> int:
    report = check(args.paths, os.getcwd(), [read_text(path) for path in args.brief])
    if args.json:
        write_json(args.json, report_to_json(report))
    if not args.quiet:
        print(concise(report))
    return 1 if report.errors else 0
