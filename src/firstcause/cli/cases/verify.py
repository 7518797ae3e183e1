"""`firstcause case verify`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from firstcause.case import LIMIT, CaseFolder, Progress, Verification, counsel, describe, next_step, verify
from firstcause.cli.cases.place import chosen, cwd_of, silent_cause
from firstcause.cli.output import write_json
from firstcause.report.plain import plain


def main(args: argparse.Namespace) -> int:
    """Run the program again: 0 the symptom is gone, 1 it is not, which is a strike."""
    folder = chosen(args.case)
    cwd, silent = cwd_of(folder), silent_cause(folder)

    def again() -> Verification:
        from firstcause.fix.verification import run_again

        return verification_of(run_again(folder.run_folder(), cwd, args.budget, silent=silent))

    verification, progress = verify(folder, cwd, again)
    out = sys.stderr if args.json == "-" else sys.stdout
    if args.json:
        write_json(args.json, outcome(verification, progress))
    print(f"{'passed' if verification.passed else 'did not pass'}: {plain(verification.text)}", file=out)
    if verification.passed and (len(progress.symptoms) > 1 or progress.remaining):
        for tracked in progress.symptoms:
            print(f"  {tracked.outcome:<9}  {plain(describe(tracked.symptom))}", file=out)
    if not verification.passed:
        _tell_strike(folder, progress)
    print(f"next: {next_step(progress)}", file=out)
    return 0 if verification.passed else 1


def verification_of(result: Any) -> Verification:
    """What the runner returned, as the case keeps it."""
    return Verification(bool(result.passed), str(result.text), dict(result.values))


def outcome(verification: Verification, progress: Progress) -> dict[str, Any]:
    """A verification and where the case stands after it, JSON-ready."""
    from firstcause.schema import to_plain

    plain_form: dict[str, Any] = to_plain(verification)
    return {
        **plain_form,
        "case": progress.case.id,
        "state": progress.case.state,
        "strikes": progress.case.strikes,
        "outcomes": to_plain(progress.symptoms),
    }


def _tell_strike(folder: CaseFolder, progress: Progress) -> None:
    print(f"strike {progress.case.strikes} of {LIMIT}", file=sys.stderr)
    patch = folder.file(f"patch-{len(progress.attempts)}.diff")
    if os.path.exists(patch):
        print(f"the patch is still in the files; this takes it out: patch -R -p1 < {patch}", file=sys.stderr)
    *asked, last = counsel(progress)
    stopped = progress.case.state == "stopped"
    for line in asked:
        print(f"{'  ' if stopped else ''}{plain(line)}", file=sys.stderr)
    print(f"{'stopped; one question: ' if stopped else ''}{plain(last)}", file=sys.stderr)
