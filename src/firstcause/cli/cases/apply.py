"""`firstcause case apply`."""

from __future__ import annotations

import argparse
import sys

from firstcause.case import apply, next_step
from firstcause.cli.cases.place import chosen, cwd_of, run_of
from firstcause.errors import InputError


def main(args: argparse.Namespace) -> int:
    """Apply the approved patch: 0 applied, 1 where a file is not what the patch was made for."""
    folder = chosen(args.case)
    sources = run_of(folder).sources or ()
    try:
        progress = apply(folder, cwd_of(folder), sources)
    except InputError as error:
        print(f"not applied, no file was changed: {error.message}", file=sys.stderr)
        print(f"next: {error.hint}", file=sys.stderr)
        return 1
    assert progress.applied is not None
    for path, change in progress.applied.files.items():
        print(f"{path}  {change.before[:12]} -> {change.after[:12]}")
    print(f"next: {next_step(progress)}")
    return 0
