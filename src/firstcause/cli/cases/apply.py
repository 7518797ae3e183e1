"""`firstcause case apply`."""

from __future__ import annotations

import argparse
import secrets
import sys

from firstcause.case import (
    CaseFolder,
    Change,
    Progress,
    apply,
    apply_by_hand,
    approval_code,
    changed_by_hand,
    class_of,
    has_patch,
    instructions,
    next_step,
    require_ready,
    sources_of,
    unapproved,
)
from firstcause.cli.cases.approve import terminal
from firstcause.cli.cases.place import chosen, cwd_of, person
from firstcause.cli.output import look
from firstcause.errors import InputError
from firstcause.report.plain import plain, wrapped


def main(args: argparse.Namespace) -> int:
    """Apply the approved patch: 0 applied, 1 where a file is not what the patch was made for."""
    folder = chosen(args.case)
    progress = folder.progress()
    if progress.case.state == "approved" and not has_patch(require_ready(progress.case.diagnosis)):
        return _by_hand(folder, progress)
    cwd = cwd_of(folder)
    try:
        progress = apply(folder, cwd, sources_of(folder))
    except InputError as error:
        print(f"not applied, no file was changed: {error.message}", file=sys.stderr)
        print(f"next: {error.hint}", file=sys.stderr)
        return 1
    assert progress.applied is not None
    for path, change in progress.applied.files.items():
        print(f"{path}  {change.before[:12]} -> {change.after[:12]}")
    for difference in unapproved(cwd, progress.applied):
        what = f"{plain(difference.path)} {difference.how} since the approval, and nobody approved that"
        print(f"{what}: nothing is verified until it is put back", file=sys.stderr)
    print(f"next: {next_step(progress)}")
    return 0


def _by_hand(folder: CaseFolder, progress: Progress) -> int:
    """Take a person's own change for the fix: what to do, or the files changed for it, confirmed by a code."""
    diagnosis = require_ready(progress.case.diagnosis)
    changes = changed_by_hand(folder, cwd_of(folder))
    if not changes:
        print("\n".join(wrapped(f"by hand: {plain(instructions(diagnosis))}", look(sys.stdout)[1])))
    if not changes and class_of(diagnosis) != "environment":
        print("no file has changed yet: change what it says", file=sys.stderr)
        print("next: firstcause case apply", file=sys.stderr)
        return 1
    if changes and not _confirmed(progress, changes):
        return 1
    progress = apply_by_hand(folder, cwd_of(folder), changes, person())
    print(f"next: {next_step(progress)}")
    return 0


def _confirmed(progress: Progress, changes: dict[str, Change]) -> bool:
    """Whether the person at the terminal says, by a code, that these files were changed for the fix."""
    out = terminal()
    for path, change in changes.items():
        out.write(f"{plain(path)}  {change.before[:12] or 'new'} -> {change.after[:12] or 'removed'}\n")
    code = approval_code(require_ready(progress.case.diagnosis), secrets.token_hex(8))
    out.write(f"\nType {code} to approve that these files, and no others, were changed for the fix.\n> ")
    out.flush()
    if plain(sys.stdin.readline()).strip().upper() == code:
        return True
    out.write("\nnot applied: the code is another one\nnext: firstcause case apply\n")
    return False
