"""A run or a case as one file that is page and record at once."""

from __future__ import annotations

import os
from typing import Any

from firstcause.case import CaseFolder
from firstcause.errors import RecordError
from firstcause.record.folder import RunFolder
from firstcause.view.packing import packed
from firstcause.view.page import one_file
from firstcause.view.project import Project
from firstcause.view.redaction import Redaction

LIMIT = 1_000_000
# Base64 takes four bytes for three.
_SHARE = 0.74


def report(project: Project, what: RunFolder | CaseFolder, full: bool = False, sources: bool = True) -> str:
    """The page of a run with its cases, or of a case with its run; at most ``LIMIT`` bytes unless ``full``.

    Raises ``RecordError`` where what is asked for cannot be read; a case's run that was removed is left out.
    """
    redaction = Redaction()
    run: RunFolder | None
    if isinstance(what, RunFolder):
        run = what
        first = project.run(os.path.basename(run.path))
        cases = [project.case_folder(name) for name in first["cases"]]
        pages = [first, *(project.case(case.id) for case in cases)]
    else:
        cases = [what]
        pages = [project.case(what.id)]
        run = RunFolder(what.run_folder())
        try:
            pages.append(project.of_run(run))
        except RecordError as error:
            redaction.leave(f"the run: {error.message}")
            run = None
    shown: list[dict[str, Any]] = [redaction.value(redaction.without_rows(page)) for page in pages]
    title = str(shown[0]["id"])
    bare = len(one_file(shown, redaction.said(), b"", title))
    room = None if full else max(1, int((LIMIT - bare - 2000) * _SHARE))
    record = packed(run, cases, redaction, room, sources)
    return one_file(shown, redaction.said(), record, title)
