"""The person's word: approval of one diagnosis and one diff, once, or its rejection."""

from __future__ import annotations

from collections.abc import Mapping

from firstcause.case.folder import CaseFolder
from firstcause.case.progress import Progress


def approve(
    folder: CaseFolder, diagnosis_hash: str, diff_hash: str, by: str, answers: Mapping[str, str]
) -> Progress:
    """Record a person's approval for these hashes; ``answers`` are those to the gate's three questions.

    Raises ``GateError`` where the case is not diagnosed, the diagnosis is incomplete, the hashes are not
    those of the diagnosis in force, or an answer is not the one that lets the approval go on.
    """
    with folder.writing() as writer:
        return writer.append(
            "approved", diagnosis_hash=diagnosis_hash, diff_hash=diff_hash, by=by, answers=dict(answers)
        )


def reject(folder: CaseFolder, because: str, by: str) -> Progress:
    """Send the case back to its hypotheses; the reason becomes evidence and is no strike.

    Raises ``GateError`` where nothing is proposed, or the reason is empty.
    """
    with folder.writing() as writer:
        return writer.append("rejected", because=because, by=by)
