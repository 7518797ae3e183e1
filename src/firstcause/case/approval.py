"""The person's word: approval of one diagnosis and one diff, once, or what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping

from firstcause.case import watching
from firstcause.case.folder import CaseFolder
from firstcause.case.progress import Progress
from firstcause.case.questions import Question, questions
from firstcause.case.symptoms import same


def approve(
    folder: CaseFolder, diagnosis_hash: str, diff_hash: str, by: str, answers: Mapping[str, str]
) -> Progress:
    """Record a person's approval for these hashes; ``answers`` are those to the gate's three questions.

    The project's files are hashed with it: what differs from them later, nobody approved.
    Raises ``GateError`` where the case is not diagnosed, the diagnosis is incomplete, the hashes are not
    those of the diagnosis in force, or an answer is not the one that lets the approval go on.
    """
    files = watching.project(folder)
    with folder.writing() as writer:
        return writer.append(
            "approved",
            diagnosis_hash=diagnosis_hash,
            diff_hash=diff_hash,
            by=by,
            answers=dict(answers),
            asked={q.key: q.text for q in questions_of(writer.progress)},
            files=files,
        )


def decline(folder: CaseFolder, question: Question, answer: str, by: str) -> Progress:
    """Record an answer that keeps a fix back; the case stays diagnosed, and no strike is counted.

    Raises ``GateError`` where nothing is proposed.
    """
    with folder.writing() as writer:
        return writer.append(
            "declined", asked=question.text, answer=answer, otherwise=question.otherwise, by=by
        )


def reject(folder: CaseFolder, because: str, by: str) -> Progress:
    """Send the case back to its hypotheses; the reason becomes evidence and is no strike.

    Raises ``GateError`` where nothing is proposed, or the reason is empty.
    """
    with folder.writing() as writer:
        return writer.append("rejected", because=because, by=by)


def questions_of(progress: Progress | None) -> tuple[Question, ...]:
    """The gate's questions of a case, in order; none where no cause is established."""
    diagnosis = progress.case.diagnosis if progress else None
    if progress is None or diagnosis is None or diagnosis.status != "established":
        return ()
    others = [t.symptom for t in progress.remaining]
    return questions(
        diagnosis, [s for s in others if diagnosis.symptom is None or not same(s, diagnosis.symptom)]
    )
