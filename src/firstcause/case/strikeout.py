"""Three strikes: what a case says when a fourth variation of one approach is asked for."""

from __future__ import annotations

from firstcause.case.approach import LIMIT, approach_of, strikes
from firstcause.case.progress import Progress
from firstcause.errors import GateError
from firstcause.schema import Diagnosis


def require_other_approach(progress: Progress, diagnosis: Diagnosis) -> None:
    """Raises ``GateError`` with the lessons and one question where this fix is a variation struck out."""
    approach = approach_of(diagnosis)
    failed = progress.failed
    if strikes(approach, [attempt.approach for attempt in failed]) < LIMIT:
        return
    lessons = "; ".join(f"{i}. {a.summary}: {a.lesson}" for i, a in enumerate(failed, 1))
    message = f"{len(failed)} fixes of this approach did not pass ({lessons})"
    raise GateError("three-strikes", message, question(progress))


def question(progress: Progress) -> str:
    """The one question for the person after the third strike."""
    causes = sorted({attempt.approach.cause for attempt in progress.failed})
    files = sorted({site[0] for attempt in progress.failed for site in attempt.approach.sites})
    return (
        f"Which observation would still be there if {' and '.join(causes)} were not the cause, "
        f"and lies outside {' and '.join(files) or 'the edited lines'}?"
    )
