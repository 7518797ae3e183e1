"""A case on disk: its folder, its progress, and the cases beside it."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from firstcause.case.event import Event, now
from firstcause.case.fold import advance, progress_of
from firstcause.case.history import HEAD, HISTORY, Writer, read
from firstcause.case.migrating import version_of
from firstcause.case.progress import Progress
from firstcause.errors import RecordError
from firstcause.fix.writing import sync_folder
from firstcause.record.folder import home_of
from firstcause.schema import CASE_SCHEMA, to_plain

CASES = "cases"


class CaseFolder:
    """The folder of one case: its history, the patches applied in it, its retrospective."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self.id = os.path.basename(self.path)

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def progress(self) -> Progress:
        """What the history says now; raises ``RecordError`` where it cannot be read."""
        return progress_of(read(self.path).events)

    def run_folder(self) -> str:
        """The folder of the run that this case is about."""
        # Stored relative to the project where it lies inside, so that a moved project keeps its cases.
        return os.path.normpath(os.path.join(project_of(self.path), self.progress().run_folder))

    def writing(self) -> CaseWriter:
        """A context in which this process alone may append; raises ``RecordError`` where another one does."""
        return CaseWriter(self)


class CaseWriter:
    """Appends events to a case that stand in its order of steps, and to no other."""

    def __init__(self, folder: CaseFolder) -> None:
        self._writer = Writer(folder.path)
        self._outdated = False
        self.progress: Progress | None = None

    def __enter__(self) -> CaseWriter:
        self._writer.__enter__()
        try:
            events = self._writer.events
            self.progress = progress_of(events) if events else None
            self._outdated = bool(events) and version_of(events) < CASE_SCHEMA
        except BaseException:
            self._writer.__exit__()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.__exit__(kind, error, trace)

    def append(self, kind: str, **data: Any) -> Progress:
        """Append one event and return the progress after it.

        Raises ``GateError`` where it comes before its time; then nothing was written.
        """
        plain = to_plain(data)
        before = self.progress
        migrated = {"schema": CASE_SCHEMA}
        if self._outdated:
            before = advance(before, Event(len(self._writer.events), now(), "migrated", migrated))
        after = advance(before, Event(len(self._writer.events), now(), kind, plain))
        if self._outdated:
            self._writer.append("migrated", migrated)
            self._outdated = False
        self._writer.append(kind, plain)
        self.progress = after
        return after


def project_of(case_path: str) -> str:
    """The folder that holds the .firstcause folder of a case."""
    return os.path.dirname(os.path.dirname(os.path.dirname(case_path)))


def kept_path(root: str, path: str) -> str:
    """A folder as a history keeps it: relative to the project of ``root`` where it lies inside."""
    project = os.path.dirname(os.path.abspath(root))
    path = os.path.abspath(path)
    inside = os.path.commonpath([project, path]) == project
    return os.path.relpath(path, project) if inside else path


def cases_of(root: str) -> str:
    """The folder of all cases below ``root``, made where it is missing; git is told to leave it alone."""
    parent = os.path.join(home_of(os.path.dirname(os.path.abspath(root))), CASES)
    try:
        os.makedirs(parent, mode=0o700, exist_ok=True)
    except OSError as error:
        raise RecordError(
            "case-unwritable", f"{parent} cannot be made: {error}", "fix its permissions"
        ) from error
    return parent


def new_case_folder(root: str, kind: str) -> CaseFolder:
    """A fresh folder below ``root`` (a .firstcause folder) for a symptom of this kind."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{kind}-{secrets.token_hex(2)}"
    path = os.path.join(cases_of(root), name)
    try:
        os.mkdir(path, mode=0o700)
        sync_folder(os.path.dirname(path))
    except OSError as error:
        message = f"{path} cannot be made: {error}"
        raise RecordError("case-unwritable", message, "fix its permissions") from error
    return CaseFolder(path)


def all_cases(root: str) -> list[CaseFolder]:
    """The cases below ``root`` (a .firstcause folder), oldest first."""
    parent = os.path.join(root, CASES)
    names = sorted(os.listdir(parent)) if os.path.isdir(parent) else []
    # Without a first line the process died before the case was opened: nothing was acknowledged.
    return [CaseFolder(path) for name in names if _begun(path := os.path.join(parent, name))]


def readable_cases(root: str) -> Iterator[tuple[CaseFolder, Progress]]:
    """The cases, newest first; a damaged one is shown by `case list`, and must not hide the whole ones."""
    for folder in reversed(all_cases(root)):
        try:
            yield folder, folder.progress()
        except RecordError:
            continue


def find_case(root: str, name: str | None = None) -> CaseFolder:
    """The case that a user means: a path, an id or its beginning, or the newest that is not closed.

    Raises ``RecordError`` where there is none, or more than one.
    """
    hint = "firstcause diagnose opens a case for a run"
    if name is None:
        for folder in reversed(all_cases(root)):
            if folder.progress().case.state != "closed":
                return folder
        raise RecordError("case-missing", f"{os.path.join(root, CASES)} has no open case", hint)
    if os.path.isfile(os.path.join(name, HISTORY)):
        return CaseFolder(name)
    found = [folder for folder in all_cases(root) if folder.id == name]
    found = found or [folder for folder in all_cases(root) if folder.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        message = f"{len(found)} cases begin with {name!r}"
        raise RecordError("case-ambiguous", message, "firstcause case list")
    message = f"no case {name!r} in {os.path.join(root, CASES)}"
    raise RecordError("case-missing", message, "firstcause case list")


def _begun(path: str) -> bool:
    try:
        with open(os.path.join(path, HISTORY), "rb") as file:
            # A head says that a line was acknowledged: without one, that line is missing.
            return b"\n" in file.read(1 << 20) or os.path.getsize(os.path.join(path, HEAD)) > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
