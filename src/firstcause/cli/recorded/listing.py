"""`firstcause runs list`."""

from __future__ import annotations

import argparse
import os
import sys

from firstcause.cli.output import look, write_json
from firstcause.record.kept_runs import listed
from firstcause.report.runs_page import render_runs, row_to_json


def main(args: argparse.Namespace) -> int:
    """List every run, a damaged one too; 0 also for none."""
    known = listed(os.getcwd())
    if args.json:
        write_json(args.json, [row_to_json(one) for one in known])
    if args.json != "-":
        if not known:
            print(f"no run in {os.getcwd()}", file=sys.stderr)
        render_runs(known, sys.stdout, *look(sys.stdout))
    return 0
