"""A throw-away copy of the folder in which a program runs, so that nothing of the user's is written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.errors import InputError

SKIPPED = {
    ".firstcause",
    ".git",
    ".hg",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "node_modules",
}
LARGE = 50_000_000
MAX_BYTES = 2_000_000_000
MAX_FILES = 20_000
# Programs read data of these kinds and seldom write it; what they do write (weights, logs) is copied, not linked.
READ_ONLY = {
    ".csv",
    ".tsv",
    ".jsonl",
    ".parquet",
    ".arrow",
    ".h5",
    ".hdf5",
    ".zip",
    ".tar",
    ".gz",
    ".wav",
    ".mp4",
    ".tif",
}


@dataclass
class Copied:
    """What a copy holds: files, bytes, and the large files that are links into the user's folder."""

    folder: str
    files: int = 0
    size: int = 0
    linked: dict[str, tuple[int, int]] = field(default_factory=dict)

    def written_through(self) -> list[str]:
        """The linked files that changed since the copy was made: the program wrote through the link."""
        return [path for path, state in self.linked.items() if _state(path) != state]


def copy_of(folder: str, target: str) -> Copied:
    """Copy a folder's files to ``target``, run folders, caches and version control left out.

    Large files that are only read become links. Raises ``InputError`` where the rest is more than 2 GB or
    20000 files.
    """
    folder = os.path.realpath(folder)
    copied = Copied(target)
    os.makedirs(target, exist_ok=True)
    for relative, entry in _entries(folder, target):
        source, place = os.path.join(folder, relative), os.path.join(target, relative)
        if entry.is_symlink():
            os.symlink(_retargeted(source, folder, target), place)
        elif entry.is_dir():
            os.makedirs(place, exist_ok=True)
        elif entry.is_file():
            _copy_file(source, place, copied)
    return copied


def _entries(folder: str, target: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(folder, below)) as found:
            for entry in sorted(found, key=lambda e: e.name):
                if entry.name in SKIPPED or os.path.realpath(entry.path) == os.path.realpath(target):
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and (_is_run(entry.path) or _is_environment(entry.path)):
                    continue
                relative = os.path.join(below, entry.name)
                yield relative, entry
                if is_folder:
                    waiting.append(relative)


def _is_run(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "run.json"))


def _is_environment(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "pyvenv.cfg"))


def _retargeted(link: str, folder: str, target: str) -> str:
    """Where a link of the copy points: into the copy if the original points into its folder, else where that does."""
    pointed = os.path.realpath(link)
    if os.path.commonpath([folder, pointed]) == folder:
        return os.path.join(target, os.path.relpath(pointed, folder))
    return pointed


def _copy_file(source: str, place: str, copied: Copied) -> None:
    size = os.path.getsize(source)
    copied.files += 1
    if size > LARGE and os.path.splitext(source)[1].lower() in READ_ONLY:
        os.symlink(source, place)
        copied.linked[source] = _state(source)
    else:
        copied.size += size
        _require_small(copied)
        shutil.copy2(source, place)
    _require_small(copied)


def _require_small(copied: Copied) -> None:
    if copied.size > MAX_BYTES or copied.files > MAX_FILES:
        raise InputError(
            "folder-too-large",
            f"the program's folder holds more than {MAX_BYTES // 10**9} GB or {MAX_FILES} files, too much to run it in a copy",
            "move data and outputs out of the folder, or run the program again by hand",
        )


def _state(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns
