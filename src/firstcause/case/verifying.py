"""Running the program again: after the patch, where it counts, and in a copy, where it does not."""

from __future__ import annotations

import os
from collections.abc import Callable

from firstcause.case.applying import hashes
from firstcause.case.folder import CaseFolder
from firstcause.case.gate import require_ready
from firstcause.case.progress import Progress
from firstcause.case.verification import Verification
from firstcause.errors import GateError


def verify(folder: CaseFolder, cwd: str, again: Callable[[], Verification]) -> tuple[Verification, Progress]:
    """Run the program again by ``again`` and record what it showed: passed, or a strike.

    Raises ``GateError`` where no applied fix waits, and where a source file is not the one that was recorded
    when the patch was applied: such a verification would be about something that nobody approved.
    """
    progress = folder.progress()
    if progress.case.state != "fixed" or progress.applied is None:
        message = f"case {folder.id} is {progress.case.state}: no applied fix waits for a verification"
        raise GateError("nothing-to-verify", message, "firstcause case show")
    sources = progress.applied.sources
    _require_unchanged(folder, cwd, sources)
    verification = again()
    _require_unchanged(folder, cwd, sources)
    with folder.writing() as writer:
        after = writer.append(
            "verified", passed=verification.passed, text=verification.text, values=verification.values
        )
    return verification, after


def try_fix(folder: CaseFolder, attempt: Callable[[str], Verification]) -> tuple[Verification, Progress]:
    """Try the proposed diff by ``attempt``, in a throw-away copy; the case's state stays as it is.

    Raises ``GateError`` where no established diagnosis with a patch is in force.
    """
    diagnosis = require_ready(folder.progress().case.diagnosis)
    assert diagnosis.fix is not None
    verification = attempt(diagnosis.fix.diff)
    with folder.writing() as writer:
        after = writer.append(
            "tried", passed=verification.passed, text=verification.text, values=verification.values
        )
    return verification, after


def _require_unchanged(folder: CaseFolder, cwd: str, sources: dict[str, str]) -> None:
    now = hashes(cwd, sources)
    changed = [path for path in sources if now[path] != sources[path]]
    if not changed:
        return
    with folder.writing() as writer:
        writer.append("voided", files=changed)
    names = ", ".join(os.path.relpath(os.path.join(cwd, path), cwd) for path in changed)
    message = f"{names} changed since the patch was applied, and nobody approved that"
    hint = "put it back and verify again, or: firstcause case reject --because TEXT"
    raise GateError("files-changed", message, hint)
