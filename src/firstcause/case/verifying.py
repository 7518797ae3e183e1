"""Running the program again: after the patch, where it counts, and in a copy, where it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from firstcause.case import watching
from firstcause.case.folder import CaseFolder
from firstcause.case.gate import require_ready
from firstcause.case.progress import Applied, Progress
from firstcause.case.symptoms import retested
from firstcause.case.verification import Verification
from firstcause.case.watching import Difference
from firstcause.errors import GateError

# Files named in one line; behind them their number.
SHOWN = 5


def verify(folder: CaseFolder, cwd: str, again: Callable[[], Verification]) -> tuple[Verification, Progress]:
    """Run the program again by ``again`` and record what it showed: passed, or a strike.

    Every symptom of the case is looked for. The fix passed where its own is gone and no other has taken its place;
    what else is left keeps the case open without a strike.
    Raises ``GateError`` where no applied fix waits, and where a file of the project is not as it was approved:
    such a verification would be about something that nobody approved.
    """
    progress = folder.progress()
    if progress.case.state != "fixed" or progress.applied is None:
        message = f"case {folder.id} is {progress.case.state}: no applied fix waits for a verification"
        raise GateError("nothing-to-verify", message, "firstcause case show")
    _require_unchanged(folder, cwd, progress.applied)
    verification = again()
    _require_unchanged(folder, cwd, progress.applied)
    worked_on = progress.case.diagnosis.symptom if progress.case.diagnosis else None
    passed, outcomes = retested(progress.symptoms, worked_on, verification)
    verification = replace(verification, passed=passed)
    with folder.writing() as writer:
        if writer.progress is None or writer.progress.attempts != progress.attempts:
            message = f"case {folder.id} was changed by another process while the program ran"
            raise GateError("nothing-to-verify", message, "firstcause case show")
        after = writer.append(
            "verified",
            passed=passed,
            text=verification.text,
            values=verification.values,
            symptoms=[{"symptom": symptom, "outcome": outcome} for symptom, outcome in outcomes],
        )
    return verification, after


def try_fix(folder: CaseFolder, attempt: Callable[[str], Verification]) -> tuple[Verification, Progress]:
    """Try the proposed diff by ``attempt``, in a throw-away copy; the case's state stays as it is.

    Raises ``GateError`` where no established diagnosis with a patch is in force.
    """
    diagnosis = require_ready(folder.progress().case.diagnosis)
    diff = diagnosis.fix.diff if diagnosis.fix else ""
    if not diff.strip():
        message = f"the fix for {diagnosis.cause} has no patch that could be tried"
        raise GateError("fix-missing", message, "firstcause case approve")
    verification = attempt(diff)
    with folder.writing() as writer:
        after = writer.append(
            "tried", passed=verification.passed, text=verification.text, values=verification.values
        )
    return verification, after


def unapproved(cwd: str, applied: Applied) -> list[Difference]:
    """What in the project is not as a person approved it."""
    return watching.differences(cwd, applied.sources, applied.complete)


def _require_unchanged(folder: CaseFolder, cwd: str, applied: Applied) -> None:
    found = unapproved(cwd, applied)
    if not found:
        return
    with folder.writing() as writer:
        writer.append("voided", files=[difference.path for difference in found])
    shown = ", ".join(f"{difference.path} {difference.how}" for difference in found[:SHOWN])
    left = len(found) - SHOWN
    more = f" and {left} more file{'s' * (left > 1)}" if left > 0 else ""
    message = f"{shown}{more} since the fix was approved, and nobody approved that: not verified"
    hint = "put it back and verify again, or: firstcause case reject --because TEXT"
    raise GateError("files-changed", message, hint)
