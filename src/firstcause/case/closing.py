"""Closing a case with what it taught, for the person and for the next diagnosis."""

from __future__ import annotations

import os

from firstcause.case.folder import CaseFolder, project_of
from firstcause.case.progress import Progress
from firstcause.case.retrospective import retrospective
from firstcause.diagnose.precedents import Precedent, Tried, read, remember
from firstcause.errors import InputError, RecordError
from firstcause.fix.writing import sync_folder
from firstcause.record import private

RETROSPECTIVE = "retrospective.md"


def close(folder: CaseFolder, lesson: str) -> Progress:
    """Close the case, write its retrospective into its folder, and add it to the project's precedents.

    A case that is not verified is closed as unresolved, and its retrospective says so. Closing a closed case
    again writes what a crash or a full disk kept from being written.
    Raises ``GateError`` while an approved or applied patch waits, ``InputError`` for an empty lesson,
    ``RecordError`` where something cannot be written.
    """
    if not lesson.strip():
        raise InputError("lesson-missing", "closing needs the lesson", "firstcause case close --lesson TEXT")
    project = project_of(folder.path)
    with folder.writing() as writer:
        progress = writer.progress
        if progress is None or progress.case.state != "closed" or _whole(folder, project):
            progress = writer.append("closed", lesson=lesson)
        _write(folder, retrospective(progress))
        remember(project, precedent(progress))
        return progress


def precedent(progress: Progress) -> Precedent:
    """What a closed case says to the next diagnosis: which cause held, and which did not."""
    symptom = progress.first.symptom if progress.first else None
    passed = [a for a in progress.attempts if a.passed]
    mine = [a for a in progress.attempts if a.passed is False]
    return Precedent(
        case=progress.case.id,
        closed=progress.updated,
        symptom=symptom.kind if symptom else "",
        verified=tuple(dict.fromkeys(a.approach.cause for a in passed)),
        failed=tuple(Tried(a.approach.cause, a.summary, a.lesson) for a in mine),
        lesson=progress.lesson,
    )


def _whole(folder: CaseFolder, project: str) -> bool:
    known = any(known.case == folder.id for known in read(project))
    return known and os.path.exists(folder.file(RETROSPECTIVE))


def _write(folder: CaseFolder, text: str) -> None:
    path = folder.file(RETROSPECTIVE)
    try:
        with open(path + ".new", "w", encoding="utf-8", opener=private.opener) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
        sync_folder(folder.path)
    except OSError as error:
        message = f"{path} cannot be written: {error}; the case itself is closed"
        raise RecordError("case-unwritable", message, "free space, then close it again") from error
