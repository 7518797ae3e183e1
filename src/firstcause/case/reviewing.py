"""A patch reviewed in the light of a case: its evidence, its refuted hypotheses, and what has failed in it."""

from __future__ import annotations

from dataclasses import replace

from firstcause.case.progress import Progress
from firstcause.case.strikeout import require_other_approach
from firstcause.errors import GateError
from firstcause.fix.review import Review, Setting, review
from firstcause.schema import Fix


def review_for(progress: Progress, diff: str, cwd: str) -> Review:
    """Review a diff of files below ``cwd``; raises ``InputError`` where it cannot be read."""
    diagnosis = progress.case.diagnosis
    struck_out = ""
    if diagnosis is not None and diagnosis.status == "established":
        proposed = replace(diagnosis, fix=Fix(diagnosis.cause or "", diff, "", "", ""))
        try:
            require_other_approach(progress, proposed)
        except GateError as error:
            struck_out = error.message
    return review(diff, cwd, Setting(diagnosis, struck_out))
