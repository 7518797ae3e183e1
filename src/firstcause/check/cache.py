"""What the rules found in a program, kept by the content of the files that they looked at.

An entry is good while every file that was read, every folder in which imports are looked for, and firstcause itself
are as they were.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from firstcause.schema import from_plain, to_plain
from firstcause.schema.finding import Finding
from firstcause.schema.instruction import Instruction
from firstcause.source.launch import launches
from firstcause.source.project import Project
from firstcause.source.written_imports import WrittenImports

MAX_ENTRIES = 2_000


@dataclass(frozen=True)
class Kept:
    """What was found in a program, and whether its imports led to more files than were read."""

    findings: tuple[Finding, ...]
    cut: bool


@dataclass(frozen=True)
class Cache:
    """A folder of entries, one a program; anything unreadable in it counts as absent."""

    folder: str
    # A file's hash is taken once in a run, before it is looked at.
    digests: dict[str, str] = field(default_factory=dict, compare=False)

    def fresh(self) -> Cache:
        """The same folder for a run of its own: files may have changed since the last one."""
        return Cache(self.folder)

    def digest(self, path: str) -> str:
        """The hash of a file's content, or of a folder's names; empty where there is nothing."""
        if path not in self.digests:
            self.digests[path] = _digest(path)
        return self.digests[path]

    def imports(self) -> WrittenImports:
        """The imports of files as they were written in earlier runs."""
        return WrittenImports(os.path.join(self.folder, "imports.json"))

    def key(self, program: Project, versions: Mapping[str, str], instructions: Sequence[Instruction]) -> str:
        """The name of a program's entry: its starting files, and all that a finding may depend on beside the code."""
        parts = [_ourselves(), program.root, program.shown_from, str(program.effort), *program.files]
        parts += [f"{k}={v}" for k, v in sorted(versions.items())]
        parts += [f"{path}={self.digest(path)}" for path in sorted({x.file.path for x in launches(program)})]
        parts += [json.dumps(to_plain(i), sort_keys=True) for i in instructions]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def read(self, key: str) -> Kept | None:
        """An entry that still holds."""
        try:
            with open(self._path(key), encoding="utf-8") as file:
                entry = json.load(file)
            if any(self.digest(path) != was for path, was in entry["files"].items()):
                return None
            return Kept(tuple(from_plain(Finding, plain) for plain in entry["findings"]), bool(entry["cut"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def write(self, key: str, program: Project, findings: Iterable[Finding]) -> None:
        """Keep what was found; a cache that cannot be written is no cache."""
        looked_at = [m.path for m in (*program.modules, *program.configs)]
        looked_at += sorted({os.path.dirname(c.path) for c in program.configs})
        entry = {
            "files": {path: self.digest(path) for path in (*looked_at, *program.search)},
            "findings": [to_plain(f) for f in findings],
            "cut": program.cut,
        }
        path = self._path(key)
        try:
            os.makedirs(self.folder, exist_ok=True)
            if len(os.listdir(self.folder)) >= MAX_ENTRIES:
                return
            with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
                # Ten times as fast as writing it piece by piece.
                file.write(json.dumps(entry))
            os.replace(f"{path}.{os.getpid()}", path)
        except OSError:
            return

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.json")


def _digest(path: str) -> str:
    """The hash of a file's content, or of a folder's names; empty where there is nothing."""
    try:
        if os.path.isdir(path):
            return hashlib.sha256(
                "\0".join(sorted(os.listdir(path))).encode("utf-8", "surrogateescape")
            ).hexdigest()
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


@functools.cache
def _ourselves() -> str:
    """The state of the package's own files: another version finds other things."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    state = []
    for room in ("check", "source", "schema", "catalog"):
        for folder, folders, names in os.walk(os.path.join(package, room)):
            folders.sort()
            for name in sorted(n for n in names if not n.endswith(".pyc")):
                found = os.stat(os.path.join(folder, name))
                state.append(f"{name}:{found.st_size}:{found.st_mtime_ns}")
    return hashlib.sha256("\0".join(state).encode()).hexdigest()
