"""`firstcause runs rm`."""

from __future__ import annotations

import argparse
import os

from firstcause.cli.output import write_json
from firstcause.record import kept_runs
from firstcause.record.sizes import size


def main(args: argparse.Namespace) -> int:
    """Remove all that are named, or none where one of them must stay."""
    going = kept_runs.find(os.getcwd(), args.runs)
    kept_runs.refuse_staying(going, args.force)
    kept_runs.finish_removals(os.getcwd())
    for one in going:
        kept_runs.remove(one)
        if args.json != "-":
            print(f"removed {one.id}, {size(one.bytes)}")
    if args.json:
        write_json(args.json, {"removed": {one.id: one.bytes for one in going}})
    return 0
