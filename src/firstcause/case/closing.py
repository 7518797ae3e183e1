"""Closing a case with what it taught."""

from __future__ import annotations

import os

from firstcause.case.folder import CaseFolder
from firstcause.case.progress import Progress
from firstcause.case.retrospective import retrospective
from firstcause.errors import InputError
from firstcause.fix.writing import sync_folder

RETROSPECTIVE = "retrospective.md"


def close(folder: CaseFolder, lesson: str) -> Progress:
    """Close the case and write its retrospective into its folder.

    A case that is not verified is closed as unresolved, and its retrospective says so.
    Raises ``GateError`` while an approved or applied patch waits, ``InputError`` for an empty lesson.
    """
    if not lesson.strip():
        raise InputError("lesson-missing", "closing needs the lesson", "firstcause case close --lesson TEXT")
    with folder.writing() as writer:
        progress = writer.append("closed", lesson=lesson)
        path = folder.file(RETROSPECTIVE)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(retrospective(progress))
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
        sync_folder(folder.path)
        return progress
