"""The open cases around a place, read from their histories alone: which files each guards, and until when."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

HOME = ".firstcause"
# A case whose history was not written for so long blocks nobody.
HOURS = 8.0
# After these events no change is guarded: one is approved, verified, or nothing is worked on.
_FREE = ("approved", "closed")
# These say nothing about where the case stands.
_SILENT = ("tried", "recovered", "migrated", "voided", "declined")
_LARGEST = 64 << 20


class Guard(NamedTuple):
    """An open case without an approval: its project, its id, where it stands, and the files that it guards.

    ``files`` are absolute; None where the record does not tell them, and each Python file of the project counts.
    """

    project: str
    case: str
    stands: str
    files: frozenset[str] | None

    def covers(self, path: str) -> bool:
        """Whether a file is one of the case's, or a test of its project."""
        real = os.path.realpath(path)
        if os.path.commonpath([self.project, real]) != self.project:
            return self.files is not None and real in self.files
        if is_test(os.path.relpath(real, self.project)):
            return True
        return real.endswith(".py") if self.files is None else real in self.files


def is_test(path: str) -> bool:
    """Whether a path below a project looks like a test, or what tests share."""
    *folders, name = path.split(os.sep)
    stem = name.rpartition(".")[0]
    return (
        any(folder in ("tests", "test") for folder in folders)
        or name == "conftest.py"
        or (name.endswith(".py") and (stem.startswith("test_") or stem.endswith("_test")))
    )


def guards(places: list[str], hours: float = HOURS) -> list[Guard]:
    """The guards of all projects that hold one of the places, or lie around it."""
    projects = dict.fromkeys(p for place in dict.fromkeys(places) for p in projects_around(place))
    return [guard for project in projects for guard in _of(project, hours)]


def projects_around(place: str) -> Iterator[str]:
    """The folders around a place that hold cases, open or not."""
    folder = os.path.realpath(place)
    while True:
        if os.path.isdir(os.path.join(folder, HOME, "cases")):
            yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above


def _of(project: str, hours: float) -> Iterator[Guard]:
    cases = os.path.join(project, HOME, "cases")
    for name in sorted(os.listdir(cases)):
        history = os.path.join(cases, name, "history.jsonl")
        try:
            status = os.stat(history)
        except OSError:
            # A folder without a history is no case.
            continue
        if time.time() - status.st_mtime > hours * 3600 or status.st_size > _LARGEST:
            continue
        guard = _guard(project, name, history)
        if guard is not None:
            yield guard


def _guard(project: str, case: str, history: str) -> Guard | None:
    with open(history, "rb") as file:
        *lines, _ = file.read().split(b"\n")
    try:
        events: list[dict[str, Any]] = [json.loads(line) for line in lines]
        telling = [e for e in events if e["event"] not in _SILENT]
        if not telling:
            return None
        last = telling[-1]
        if last["event"] in _FREE or (last["event"] == "verified" and last["data"]["passed"]):
            return None
        return Guard(project, case, str(last["event"]), _files(project, events))
    except (ValueError, LookupError, TypeError, AttributeError):
        # Damaged or written over: nothing in it is an approval.
        return Guard(project, case, "damaged", None)


def _files(project: str, events: list[dict[str, Any]]) -> frozenset[str] | None:
    """The files that the run loaded, and those that the diagnosis or its diff names."""
    run = [e["data"]["run_folder"] for e in events if "run_folder" in e["data"]][-1]
    named: set[str] = set()
    for event in events:
        diagnosis = event["data"].get("diagnosis") or {}
        sites = [diagnosis.get("site"), *(h.get("site") for h in diagnosis.get("hypotheses") or [])]
        named.update(site["file"] for site in sites if site)
        diff = (diagnosis.get("fix") or {}).get("diff") or ""
        named.update(line[6:].split("\t")[0] for line in diff.split("\n") if line.startswith("+++ b/"))
    try:
        with open(os.path.join(project, run, "run.json"), encoding="utf-8") as file:
            sources = json.load(file).get("sources") or {}
    except (OSError, ValueError):
        return None
    named.update(sources)
    return frozenset(os.path.realpath(os.path.join(project, name)) for name in named)
