"""`firstcause case list`."""

from __future__ import annotations

import argparse
import sys

from firstcause.case import Progress, all_cases
from firstcause.cli.cases.place import root
from firstcause.cli.output import look
from firstcause.errors import RecordError
from firstcause.report.case_page import render_cases


def main(args: argparse.Namespace) -> int:
    """List every case, a damaged one too; 0 also for none."""
    rows: list[tuple[str, Progress | str]] = []
    for folder in all_cases(root()):
        try:
            rows.append((folder.id, folder.progress()))
        except RecordError as error:
            rows.append((folder.id, error.message))
    if not rows:
        print(f"no case in {root()}", file=sys.stderr)
    render_cases(rows, sys.stdout, *look(sys.stdout))
    return 0
