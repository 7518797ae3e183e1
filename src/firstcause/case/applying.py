"""Applying the approved patch, exactly once, to exactly the files that were shown."""

from __future__ import annotations

import os
from collections.abc import Iterable

from firstcause.case.folder import CaseFolder
from firstcause.case.gate import diagnosis_hash, diff_hash, require_ready
from firstcause.case.progress import Change, Progress
from firstcause.errors import GateError
from firstcause.fix.patch import parse, patched
from firstcause.fix.writing import digest_of, file_hash, rewrite, target


def apply(folder: CaseFolder, cwd: str, sources: Iterable[str] = ()) -> Progress:
    """Apply the approved patch to the files below ``cwd``, all of them or none.

    ``sources`` are the other files whose change would void a verification, relative to ``cwd`` or absolute.
    Raises ``GateError`` without a valid approval, ``InputError`` where a file is not what the patch expects,
    ``RecordError`` where one cannot be written. After a crash half-way, calling it again finishes the work.
    """
    with folder.writing() as writer:
        progress = writer.progress
        if progress is None or progress.case.state != "approved" or progress.approval is None:
            state = progress.case.state if progress else "empty"
            message = f"case {folder.id} is {state}: no approval is waiting to be used"
            raise GateError("not-approved", message, "firstcause case approve")
        diagnosis = require_ready(progress.case.diagnosis)
        approval = progress.approval
        if (approval.diagnosis_hash, approval.diff_hash) != (diagnosis_hash(diagnosis), diff_hash(diagnosis)):
            message = "the approval is for another diagnosis or diff"
            raise GateError("approval-for-another", message, "firstcause case approve")
        assert diagnosis.fix is not None
        announced = progress.applied.files if progress.applied else {}
        contents, changes = _contents(cwd, diagnosis.fix.diff, announced)
        _keep_patch(folder, progress, diagnosis.fix.diff)
        if not announced:
            writer.append("applying", files=changes)
        rewrite(contents)
        named = {*changes, *sources}
        return writer.append("applied", sources=hashes(cwd, named))


def hashes(cwd: str, paths: Iterable[str]) -> dict[str, str]:
    """The sha256 of each file by the path given, relative to ``cwd`` or absolute; empty for a missing one."""
    return {path: file_hash(os.path.join(cwd, path)) for path in sorted(paths)}


def _contents(
    cwd: str, diff: str, announced: dict[str, Change]
) -> tuple[dict[str, bytes], dict[str, Change]]:
    contents: dict[str, bytes] = {}
    changes: dict[str, Change] = {}
    for patch in parse(diff):
        path = target(cwd, patch.path)
        with open(path, "rb") as file:
            before = file.read()
        known = announced.get(patch.path)
        if known and digest_of(before) == known.after:
            # Written before a crash between two files; the rest follows now.
            changes[patch.path] = known
            continue
        contents[path] = patched(patch, before)
        changes[patch.path] = Change(digest_of(before), digest_of(contents[path]))
    return contents, changes


def patch_name(progress: Progress) -> str:
    """The name under which the case keeps the patch that is applied next."""
    return f"patch-{len(progress.attempts) + 1}.diff"


def _keep_patch(folder: CaseFolder, progress: Progress, diff: str) -> None:
    with open(folder.file(patch_name(progress)), "w", encoding="utf-8", newline="") as file:
        file.write(diff if diff.endswith("\n") else diff + "\n")
