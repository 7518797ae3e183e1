"""`firstcause runs show`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys

from firstcause.cli.output import look, write_json
from firstcause.errors import RecordError
from firstcause.record import kept_runs, restore
from firstcause.record.folder import find_run
from firstcause.record.supervise import afterwards
from firstcause.report.runs_page import render_run, run_to_json


def main(args: argparse.Namespace) -> int:
    """Show one run."""
    folder = find_run(args.run, os.getcwd())
    with contextlib.suppress(RecordError):
        # One that is still recorded, or that cannot be read, is shown as it stands.
        afterwards.conclude(folder)
    one = kept_runs.look_at(folder, os.getcwd())
    states = [state.step for state in restore.held(folder)] if one.run else []
    if args.json:
        write_json(args.json, run_to_json(one, states))
    if args.json != "-":
        render_run(one, states, sys.stdout, *look(sys.stdout))
    return 0
