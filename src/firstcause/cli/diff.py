"""Say what differs between two recorded runs, and at which step their losses part.

Code, arguments, versions, git revision, environment, the data and the seed of the first step, the losses, the end.
"""

from __future__ import annotations

import argparse
import os
import sys

from firstcause.cli.output import look, write_json
from firstcause.record.compare import compare
from firstcause.record.supervise import afterwards
from firstcause.report.difference import difference_to_json, render_difference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="RUN", help="a run's folder or id")
    parser.add_argument(
        "after", metavar="RUN", nargs="?", default="last", help="another one (default: the last)"
    )
    parser.add_argument("--json", metavar="FILE", help='write the result as JSON; "-" is standard output')


def main(args: argparse.Namespace) -> int:
    comparison = compare(
        afterwards.found(args.before, os.getcwd()), afterwards.found(args.after, os.getcwd())
    )
    if args.json:
        write_json(args.json, difference_to_json(comparison))
    if args.json != "-":
        color, width = look(sys.stdout)
        render_difference(comparison, sys.stdout, color, width)
    return 0
