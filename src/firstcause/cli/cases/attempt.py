"""`firstcause case try`."""

from __future__ import annotations

import argparse
import sys

from firstcause.case import Verification, try_fix
from firstcause.cli.cases.place import chosen, cwd_of, silent_cause
from firstcause.cli.cases.verify import outcome, verification_of
from firstcause.cli.output import write_json
from firstcause.report.plain import plain


def main(args: argparse.Namespace) -> int:
    """Try the proposed fix in a copy: 0 it passes, 1 it does not; no file of yours changes."""
    folder = chosen(args.case)
    cwd, silent = cwd_of(folder), silent_cause(folder)

    def attempt(diff: str) -> Verification:
        from firstcause.fix.verification import try_in_copy

        return verification_of(try_in_copy(folder.run_folder(), cwd, diff, args.budget, silent=silent))

    verification, progress = try_fix(folder, attempt)
    if args.json:
        write_json(args.json, outcome(verification, progress))
    out = sys.stderr if args.json == "-" else sys.stdout
    print(
        f"{'passes' if verification.passed else 'does not pass'} in a copy: {plain(verification.text)}",
        file=out,
    )
    return 0 if verification.passed else 1
