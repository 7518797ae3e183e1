"""The person of a run: says yes to a cause with its line, and approves the case that waits for it."""

from __future__ import annotations

from pathlib import Path

from firstcause.case import approve, diagnosis_hash, diff_hash, find_case
from firstcause.errors import FirstcauseError

ANSWERS = {"symptom": "y", "scope": "t", "side-effect": "y"}
WHO = "the user of a pressure test"


def approve_case(folder: Path) -> bool:
    """Approve the open case of a folder, as its user would at a terminal; whether one waited for it."""
    try:
        case = find_case(str(folder / ".firstcause"), None)
        progress = case.progress()
        made = progress.case.diagnosis
        if progress.case.state != "diagnosed" or made is None:
            return False
        approve(case, diagnosis_hash(made), diff_hash(made), WHO, ANSWERS)
    except FirstcauseError:
        # No case is open, or none that may be approved: the yes is one of words alone.
        return False
    return True
