"""A folder's runs and cases, and what was read of them, kept between two looks."""

from __future__ import annotations

import glob
import os
import threading
from typing import Any

from firstcause.case import CaseFolder, all_cases, describe
from firstcause.errors import RecordError
from firstcause.record.blocks import journals_of
from firstcause.record.folder import HOME, RunFolder
from firstcause.record.kept_looks import FILES, memory_of, profile_of
from firstcause.record.kept_runs import listed
from firstcause.view.case_data import case_to_page
from firstcause.view.following import Follower
from firstcause.view.run_data import run_to_json


class Project:
    """The folder ``cwd``; ``extra`` is one more run or case that lies elsewhere and was asked for by its path."""

    def __init__(self, cwd: str, extra: RunFolder | CaseFolder | None = None) -> None:
        self.cwd = os.path.abspath(cwd)
        self._extra = extra
        self._followers: dict[str, Follower] = {}
        # Two windows may ask at once, and a follower reads each byte only once.
        self._lock = threading.Lock()

    def run_folder(self, name: str) -> RunFolder:
        """The run of this id; raises ``RecordError`` where there is none."""
        if isinstance(self._extra, RunFolder) and os.path.basename(self._extra.path) == name:
            return self._extra
        runs = os.path.join(self.cwd, HOME, "runs")
        # Looked up among the names that are there: a name from outside is never part of a path.
        if os.path.isdir(runs) and name in os.listdir(runs):
            return RunFolder(os.path.join(runs, name))
        raise RecordError("run-missing", f"no run {name!r} in {self.cwd}", "firstcause runs list")

    def case_folder(self, name: str) -> CaseFolder:
        """The case of this id; raises ``RecordError`` where there is none."""
        if isinstance(self._extra, CaseFolder) and self._extra.id == name:
            return self._extra
        for folder in all_cases(os.path.join(self.cwd, HOME)):
            if folder.id == name:
                return folder
        raise RecordError("case-missing", f"no case {name!r} in {self.cwd}", "firstcause case list")

    def home(self) -> dict[str, Any]:
        """The list of runs, newest first, and of cases; what is damaged stands among them with its problem."""
        runs = [
            {
                "id": one.id,
                "command": list(one.run.command) if one.run else [],
                "started": one.run.started if one.run else "",
                "seconds": one.run.seconds if one.run else None,
                "exit_code": one.run.exit_code if one.run else None,
                "signal": one.run.signal if one.run else None,
                "symptoms": [describe(s) for s in one.run.symptoms] if one.run else [],
                "bytes": one.bytes,
                "live": one.held,
                "cases": list(one.cases),
                "problem": one.problem,
            }
            for one in reversed(listed(self.cwd))
        ]
        return {"kind": "home", "folder": self.cwd, "runs": runs, "cases": list(map(_row, self._cases()))}

    def run(self, name: str) -> dict[str, Any]:
        """The page of a run; raises ``RecordError`` where it cannot be read."""
        return self.of_run(self.run_folder(name))

    def of_run(self, folder: RunFolder) -> dict[str, Any]:
        """The page of a run, wherever it lies."""
        name = os.path.basename(folder.path)
        with self._lock:
            return run_to_json(
                folder.run(),
                self._following(folder),
                folder.failures(),
                folder.is_held(),
                [f.id for f in self._cases() if _run_of(f) == name],
                memory_of(folder),
                profile_of(folder),
            )

    def window(self, name: str, first: int, last: int) -> dict[str, Any]:
        """The tracks of a run between two steps, as finely as was recorded."""
        folder = self.run_folder(name)
        followers = [Follower(path, first, last) for path in journals_of(folder)]
        for follower in followers:
            follower.advance()
        return {"tracks": run_to_json(folder.run(), followers)["tracks"]}

    def case(self, name: str) -> dict[str, Any]:
        return case_to_page(self.case_folder(name))

    def signature(self, kind: str, name: str) -> tuple[Any, ...]:
        """What changes where a page has changed: sizes and times of the files that it is made of."""
        if kind == "run":
            folder = self.run_folder(name)
            kept = [folder.file(name) for name in ("run.json", *FILES)]
            return _stamps([*journals_of(folder), *kept, folder.file("failures")])
        if kind == "case":
            return _stamps([self.case_folder(name).file("history.jsonl")])
        parts = ("runs", "cases", "runs/*/run.json", "cases/*/history.jsonl")
        root = os.path.join(glob.escape(self.cwd), HOME)
        return _stamps(sorted(path for part in parts for path in glob.glob(os.path.join(root, part))))

    def _following(self, folder: RunFolder) -> list[Follower]:
        found = []
        for path in journals_of(folder):
            follower = self._followers.setdefault(path, Follower(path))
            follower.advance()
            found.append(follower)
        return found

    def _cases(self) -> list[CaseFolder]:
        known = list(reversed(all_cases(os.path.join(self.cwd, HOME))))
        return [self._extra, *known] if isinstance(self._extra, CaseFolder) else known


def _row(folder: CaseFolder) -> dict[str, Any]:
    try:
        progress = folder.progress()
    except RecordError as error:
        return {"id": folder.id, "state": "damaged", "problem": error.message}
    diagnosis = progress.case.diagnosis
    return {
        "id": folder.id,
        "state": progress.case.state,
        "run": progress.case.run,
        "opened": progress.case.opened,
        "cause": diagnosis.cause if diagnosis else None,
        "site": str(diagnosis.site) if diagnosis and diagnosis.site else "",
        "symptom": describe(diagnosis.symptom) if diagnosis else "",
        "strikes": progress.case.strikes,
        "problem": "",
    }


def _run_of(folder: CaseFolder) -> str:
    try:
        return folder.progress().case.run
    except RecordError:
        # A damaged case is named in the list; it takes nothing away from the run.
        return ""


def _stamps(paths: list[str]) -> tuple[Any, ...]:
    found = []
    for path in paths:
        try:
            status = os.stat(path)
        except FileNotFoundError:
            found.append((path, 0, 0))
            continue
        found.append((path, status.st_size, status.st_mtime_ns))
    return tuple(found)
