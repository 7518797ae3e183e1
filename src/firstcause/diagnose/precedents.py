"""What earlier cases of a project taught: a line a closed case, which ranks the causes of the next failure.

The file lies in the project's .firstcause folder and can be read, edited and removed. It orders hypotheses of one
status among themselves and settles none: only evidence of the run at hand does.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass

from firstcause.errors import RecordError
from firstcause.record.folder import HOME, home_of
from firstcause.schema import Symptom, from_plain, to_plain

FILE = "precedents.jsonl"
LARGEST = 8 << 20


@dataclass(frozen=True)
class Tried:
    """A fix that did not pass: the cause that it was made for, what it did, and what that taught."""

    cause: str
    summary: str
    lesson: str


@dataclass(frozen=True)
class Precedent:
    """A closed case: its symptom's kind, the causes whose fixes were verified, the attempts that failed, its lesson."""

    case: str
    closed: str
    symptom: str
    verified: tuple[str, ...]
    failed: tuple[Tried, ...]
    lesson: str


def remember(project: str, precedent: Precedent) -> None:
    """Add a case to the file of its project, once; raises ``RecordError`` where it cannot be written."""
    path = os.path.join(home_of(project), FILE)
    if any(known.case == precedent.case for known in read(project)):
        return
    line = json.dumps(to_plain(precedent), allow_nan=False).encode("ascii") + b"\n"
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(fd).st_size
            # A line that a crash cut short must not take this one with it.
            whole = size == 0 or os.pread(fd, 1, size - 1) == b"\n"
            line = line if whole else b"\n" + line
            if os.write(fd, line) < len(line):
                os.ftruncate(fd, size)
                raise OSError("the disk took only a part of a line")
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        message = f"{path} cannot be written: {error}"
        raise RecordError(
            "case-unwritable", message, "free space or fix its permissions, then repeat"
        ) from error


def read(project: str) -> tuple[Precedent, ...]:
    """The precedents of a project, oldest first; a line that is none is left out, and so is an unreadable file."""
    try:
        with open(os.path.join(project, HOME, FILE), "rb") as file:
            lines = file.read(LARGEST).split(b"\n")
    except OSError:
        # An aid to ranking: without it, nothing is ranked by it.
        return ()
    found: dict[str, Precedent] = {}
    for line in lines:
        try:
            precedent = from_plain(Precedent, json.loads(line))
        except (ValueError, RecursionError):
            continue
        found[precedent.case] = precedent
    return tuple(found.values())


def weights(project: str, symptom: Symptom) -> dict[str, int]:
    """How often a fix for a cause was verified for this kind of symptom, less how often one did not pass."""
    counted: Counter[str] = Counter()
    for precedent in read(project):
        if precedent.symptom == symptom.kind:
            counted.update(precedent.verified)
            counted.subtract(attempt.cause for attempt in precedent.failed)
    return dict(counted)
