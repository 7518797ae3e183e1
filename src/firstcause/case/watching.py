"""Which files a fix may not change unasked, and which of them are no longer as a person approved them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from firstcause.case.folder import CaseFolder, project_of
from firstcause.errors import RecordError
from firstcause.fix.writing import file_hash
from firstcause.installed import FOLDERS
from firstcause.record.folder import RunFolder, relative

# What changes how a program runs; outputs and data are watched only where git keeps them.
SUFFIXES = (
    *(".py", ".pyi", ".pyx", ".ipynb", ".sh", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"),
    *(".yaml", ".yml", ".toml", ".cfg", ".ini"),
)
MOST_FILES = 20_000
LARGEST = 64 << 20
_GIT_SECONDS = 20.0


class Difference(NamedTuple):
    """A file that is not as it was approved, and how: changed, removed or added."""

    path: str
    how: str


def sources_of(folder: CaseFolder) -> tuple[str, ...]:
    """The files that the case's run loaded, relative to its project where they lie in it; none where unknown."""
    try:
        run = RunFolder(folder.run_folder()).run()
    except RecordError:
        # A record that was removed takes nothing away from the case.
        return ()
    return tuple(relative(os.path.join(run.folder, path), run.folder) for path in run.sources or ())


def snapshot(cwd: str, also: Iterable[str] = ()) -> dict[str, str]:
    """The sha256 of each watched file below ``cwd`` and of those of ``also``, by path; empty for a missing one."""
    named = {path for path in (*_code(cwd), *_kept_by_git(cwd)) if _watchable(os.path.join(cwd, path))}
    return {path: file_hash(os.path.join(cwd, path)) for path in sorted(named | set(also))}


def differences(cwd: str, approved: Mapping[str, str], complete: bool) -> list[Difference]:
    """What differs from the approved hashes now.

    Where they are ``complete``, a module that was added beside the approved ones counts: it may stand in for one.
    """
    found: list[Difference] = []
    for path, known in approved.items():
        now = file_hash(os.path.join(cwd, path))
        if now != known:
            found.append(
                Difference(path, "was removed" if not now else "was added" if not known else "changed")
            )
    if complete:
        found += [Difference(path, "was added") for path in _added(cwd, approved)]
    return sorted(found)


def _added(cwd: str, approved: Mapping[str, str]) -> Iterator[str]:
    homes = {os.path.dirname(path) for path in approved if path.endswith(".py")} | {""}
    for path in _code(cwd):
        folder = os.path.dirname(path)
        # Deeper down lie copies of the code that programs and loggers leave in their outputs.
        if path.endswith(".py") and path not in approved and ({folder, os.path.dirname(folder)} & homes):
            yield path


def _code(cwd: str) -> Iterator[str]:
    count = 0
    for folder, folders, files in os.walk(cwd):
        folders[:] = sorted(f for f in folders if not _foreign(folder, f))
        for name in sorted(files):
            if name.endswith(SUFFIXES):
                count += 1
                if count > MOST_FILES:
                    return
                yield os.path.relpath(os.path.join(folder, name), cwd)


def _foreign(folder: str, name: str) -> bool:
    return (
        name.startswith(".")
        or name in ("__pycache__", "node_modules", *FOLDERS, "wandb", "lightning_logs")
        or os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
    )


def _kept_by_git(cwd: str) -> list[str]:
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "ls-files", "-z"],
            cwd=cwd,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    names = [os.fsdecode(name) for name in done.stdout.split(b"\0") if name] if done.returncode == 0 else []
    return [n for n in names if not n.startswith(".firstcause/")][:MOST_FILES]


def _watchable(path: str) -> bool:
    try:
        return os.path.isfile(path) and os.path.getsize(path) <= LARGEST
    except OSError:
        # Gone between two looks.
        return False


def project(folder: CaseFolder) -> dict[str, str]:
    """The watched files of a case's project as they are now."""
    return snapshot(project_of(folder.path), sources_of(folder))
