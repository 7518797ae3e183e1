"""Say what works here, what does not, and why.

"limited" is what firstcause does without, and how it shows; with anything "missing" the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import sys

from firstcause.cli.output import look, write_json
from firstcause.record.doctor import checks
from firstcause.report.doctor_page import render_checks
from firstcause.schema import to_plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", help='write the checks as JSON; "-" is standard output')


def main(args: argparse.Namespace) -> int:
    found = list(checks(os.getcwd()))
    if args.json:
        write_json(args.json, [to_plain(one) for one in found])
    if args.json != "-":
        render_checks(found, sys.stdout, *look(sys.stdout))
    return 1 if any(one.status == "missing" for one in found) else 0
