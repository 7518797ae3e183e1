"""The run or the case that a user means by one word."""

from __future__ import annotations

import os
from urllib.parse import quote

from firstcause.case import CaseFolder, find_case
from firstcause.case.history import HISTORY
from firstcause.errors import InputError, RecordError
from firstcause.record.folder import HOME, RunFolder, find_run
from firstcause.record.kept_runs import find


def shown(name: str, cwd: str) -> tuple[RunFolder | CaseFolder, str]:
    """The run or case of this path, id or beginning, or ``last``, and the part of the page that shows it.

    Raises ``InputError`` where it is neither.
    """
    found = _meant(name, cwd)
    kind = "case" if isinstance(found, CaseFolder) else "run"
    return found, f"#{kind}/{quote(os.path.basename(found.path), safe='')}"


def _meant(name: str, cwd: str) -> RunFolder | CaseFolder:
    if os.path.isfile(os.path.join(name, HISTORY)):
        return CaseFolder(name)
    if name == "last" or os.path.isfile(os.path.join(name, "run.json")):
        return find_run(name, cwd)
    try:
        return find(cwd, [name])[0].folder
    except RecordError as missing:
        try:
            return find_case(os.path.join(cwd, HOME), name)
        except RecordError:
            message = f"{name!r} is no run and no case of {cwd}"
            raise InputError(
                "nothing-shown", message, "firstcause runs list, firstcause case list"
            ) from missing
