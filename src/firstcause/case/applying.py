"""Applying the approved fix, exactly once: its patch to exactly the files that were shown, or a person's own change."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterable, Mapping

from firstcause.case import watching
from firstcause.case.classes import class_of, has_patch, instructions
from firstcause.case.folder import CaseFolder, CaseWriter
from firstcause.case.gate import diagnosis_hash, diff_hash, require_ready
from firstcause.case.progress import Approval, Change, Progress
from firstcause.errors import GateError, InputError, RecordError
from firstcause.fix.patch import parse, patched
from firstcause.fix.writing import digest_of, file_hash, rewrite, target
from firstcause.record import private
from firstcause.schema import Diagnosis


def apply(folder: CaseFolder, cwd: str, sources: Iterable[str] = ()) -> Progress:
    """Apply the approved patch to the files below ``cwd``, all of them or none.

    ``sources`` are the other files whose change would void a verification, relative to ``cwd`` or absolute.
    Raises ``GateError`` without a valid approval, ``InputError`` where a file is not what the patch expects,
    ``RecordError`` where one cannot be written. After a crash half-way, calling it again finishes the work.
    """
    with folder.writing() as writer:
        progress, approval, diagnosis = _approved(folder, writer)
        if diagnosis.fix is None or not has_patch(diagnosis):
            message = f"the fix for {diagnosis.cause} has no patch: a person carries it out"
            raise GateError(
                "fix-by-hand", message, f"do this, then firstcause case apply: {instructions(diagnosis)}"
            )
        announced = progress.applied.files if progress.applied else {}
        contents, changes = _contents(cwd, diagnosis.fix.diff, announced)
        _require_approved(approval, changes)
        _keep_patch(folder, progress, diagnosis.fix.diff)
        if not announced:
            writer.append("applying", files=changes)
        _clear_left_over(cwd, changes)
        rewrite(contents)
        more = hashes(cwd, {*sources} - {*approval.files})
        after = {path: change.after for path, change in changes.items()}
        # As they were approved, and not as they are: what changed in between is found by the verification.
        return writer.append("applied", sources=more | approval.files | after, complete=bool(approval.files))


def changed_by_hand(folder: CaseFolder, cwd: str) -> dict[str, Change]:
    """What a person changed since the approval of a fix without a patch, by path.

    Raises ``GateError`` where no such approval waits.
    """
    with folder.writing() as writer:
        return _by_hand(cwd, *_approved(folder, writer)[1:])


def apply_by_hand(folder: CaseFolder, cwd: str, confirmed: Mapping[str, Change], by: str) -> Progress:
    """Record that a fix without a patch was carried out by a person, who confirms each file changed for it.

    Raises ``GateError`` where no such approval waits, where a design was to change and no file has, or where the
    files differ from what was confirmed.
    """
    with folder.writing() as writer:
        _, approval, diagnosis = _approved(folder, writer)
        changes = _by_hand(cwd, approval, diagnosis)
        if changes != dict(confirmed):
            message = "the files are not the ones that were confirmed: they changed since"
            raise GateError("approval-for-another", message, "firstcause case apply")
        if not changes and class_of(diagnosis) != "environment":
            message = f"no file has changed since the approval, and the fix for {diagnosis.cause} is a change of them"
            raise GateError(
                "fix-by-hand", message, f"do this, then firstcause case apply: {instructions(diagnosis)}"
            )
        after = {path: change.after for path, change in changes.items()}
        writer.append("applying", files=changes)
        return writer.append("applied", sources=approval.files | after, complete=True, by=by)


def _approved(folder: CaseFolder, writer: CaseWriter) -> tuple[Progress, Approval, Diagnosis]:
    """What waits to be applied; raises ``GateError`` where nothing does, or where it is for something else."""
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
    return progress, approval, diagnosis


def _by_hand(cwd: str, approval: Approval, diagnosis: Diagnosis) -> dict[str, Change]:
    if has_patch(diagnosis):
        message = f"the fix for {diagnosis.cause} has a patch, which is applied as it was shown"
        raise GateError("step-out-of-order", message, "firstcause case apply")
    differing = [difference.path for difference in watching.differences(cwd, approval.files, True)]
    now = hashes(cwd, differing)
    return {path: Change(approval.files.get(path, ""), now[path]) for path in differing}


def _require_approved(approval: Approval, changes: Mapping[str, Change]) -> None:
    for path, change in changes.items():
        if approval.files.get(path, change.before) != change.before:
            message = f"{path} changed since the patch was approved for it"
            hint = "put it back, or: firstcause case reject --because TEXT"
            raise InputError("patch-mismatch", message, hint)


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


def _clear_left_over(cwd: str, changes: Iterable[str]) -> None:
    """Remove what a killed apply left beside the files: it was written for them, and never took their place."""
    for path in changes:
        folder, name = os.path.split(target(cwd, path))
        for stale in glob.glob(
            os.path.join(glob.escape(folder), f".{glob.escape(name)}.????????.firstcause")
        ):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(stale)


def patch_name(progress: Progress) -> str:
    """The name under which the case keeps the patch that is applied next."""
    return f"patch-{len(progress.attempts) + 1}.diff"


def _keep_patch(folder: CaseFolder, progress: Progress, diff: str) -> None:
    path = folder.file(patch_name(progress))
    try:
        with open(path, "w", encoding="utf-8", newline="", opener=private.opener) as file:
            file.write(diff if diff.endswith("\n") else diff + "\n")
    except OSError as error:
        message = f"{path} cannot be written: {error}"
        raise RecordError("case-unwritable", message, "free space or fix its permissions") from error
