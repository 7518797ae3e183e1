"""Applying a unified diff exactly or not at all: no fuzz, no offset, nothing outside the folder."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from dataclasses import dataclass, field

from firstcause.errors import InputError

HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
# A diff is read from people and agents; a fix is small.
MAX_DIFF = 5_000_000
ABSENT = "/dev/null"


@dataclass
class Hunk:
    """Lines that stand at a place in the old file and those that take their place."""

    start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class FileChange:
    """The change of one file: None for a path means that the file is not there before, or after."""

    old_path: str | None
    new_path: str | None
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        return self.new_path or self.old_path or ""


def parse_diff(diff: str) -> list[FileChange]:
    """The changes that a unified diff describes; raises ``InputError`` where it is not one."""
    if len(diff) > MAX_DIFF:
        raise _refused(f"the diff has {len(diff)} characters, more than {MAX_DIFF}")
    lines = re.split(r"(?<=\n)", diff)
    changes: list[FileChange] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        is_header = line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
        if is_header:
            changes.append(FileChange(_path(line), _path(lines[at + 1])))
            at += 2
        elif line.startswith("@@"):
            if not changes:
                raise _refused(f"line {at + 1} of the diff starts a hunk before any file is named")
            at = _read_hunk(lines, at, changes[-1])
        else:
            at += 1
    if not any(change.hunks for change in changes):
        raise _refused("the diff changes no file")
    return changes


def apply_diff(diff: str, folder: str) -> list[str]:
    """Apply a diff with a/ and b/ prefixes beneath a folder and give the paths of the files that changed.

    Raises ``InputError`` and changes nothing where a path leaves the folder, a file is missing, or its
    lines are not those of the diff.
    """
    folder = os.path.realpath(folder)
    changes = parse_diff(diff)
    if len({change.path for change in changes}) < len(changes):
        raise _refused("the diff changes the same file twice")
    results = [(change, _target(folder, change), _after(folder, change)) for change in changes]
    _write_all([(path, content) for _, path, content in results])
    return [change.path for change in changes]


def patched_text(change: FileChange, before: str) -> str:
    """The text of a file after its change; raises ``InputError`` where the lines differ from the diff's."""
    old = [line for line in re.split(r"(?<=\n)", before) if line]
    new: list[str] = []
    at = 0
    for hunk in change.hunks:
        start = hunk.start - 1 if hunk.old else hunk.start
        if start < at or old[start : start + len(hunk.old)] != hunk.old:
            raise _refused(f"{change.path} does not read as the diff says at line {start + 1}")
        new += [*old[at:start], *hunk.new]
        at = start + len(hunk.old)
    return "".join([*new, *old[at:]])


def _path(line: str) -> str | None:
    name = line[4:].rstrip("\r\n").split("\t")[0]
    if name == ABSENT:
        return None
    return name.partition("/")[2] if name.startswith(("a/", "b/")) else name


def _read_hunk(lines: list[str], at: int, change: FileChange) -> int:
    match = HUNK.match(lines[at])
    if match is None:
        raise _refused(f"line {at + 1} of the diff is no hunk header")
    wanted_old, wanted_new = (int(match[i]) if match[i] is not None else 1 for i in (2, 4))
    hunk = Hunk(int(match[1]))
    at += 1
    while len(hunk.old) < wanted_old or len(hunk.new) < wanted_new:
        if at >= len(lines) or lines[at][:1] not in (" ", "-", "+", "\n", "\r"):
            raise _refused(f"the hunk before line {at + 1} of the diff is cut short")
        mark, content = lines[at][0], lines[at][1:]
        if mark in "\r\n":
            # Mail and editors strip the space of an empty context line.
            mark, content = " ", lines[at]
        at += 1
        if at < len(lines) and lines[at].startswith("\\"):
            content, at = content[:-1], at + 1
        hunk.old += [content] if mark in " -" else []
        hunk.new += [content] if mark in " +" else []
    if len(hunk.old) != wanted_old or len(hunk.new) != wanted_new:
        raise _refused(f"the hunk before line {at + 1} of the diff has other lines than its header counts")
    change.hunks.append(hunk)
    return at


def _target(folder: str, change: FileChange) -> str:
    path = os.path.normpath(os.path.join(folder, change.path))
    inside = os.path.realpath(os.path.dirname(path))
    parts = change.path.replace("\\", "/").split("/")
    if not change.path or ".." in parts or os.path.isabs(change.path) or os.path.commonpath([folder, inside]) != folder:
        raise _refused(f"{change.path or 'an empty path'} lies outside the folder")
    if change.old_path and change.new_path and change.old_path != change.new_path:
        raise _refused(f"the diff renames {change.old_path} to {change.new_path}")
    return path


def _after(folder: str, change: FileChange) -> bytes | None:
    """The bytes of a file after its change; None where it is removed."""
    path = _target(folder, change)
    if change.old_path is None:
        if os.path.exists(path):
            raise _refused(f"{change.path} is there already, the diff creates it")
        return patched_text(change, "").encode()
    try:
        with open(path, "rb") as file:
            before = file.read().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(f"{change.path} cannot be read: {error}") from error
    after = patched_text(change, before)
    if change.new_path is None and after:
        raise _refused(f"{change.path} holds more than the diff removes")
    return None if change.new_path is None else after.encode()


def _write_all(results: list[tuple[str, bytes | None]]) -> None:
    """Write every file or none: new contents lie ready beside the files before the first is replaced."""
    ready = [(path, _ready(path, content) if content is not None else None) for path, content in results]
    kept: list[tuple[str, bytes | None]] = []
    try:
        for path, prepared in ready:
            kept.append((path, _content(path)))
            if prepared is None:
                os.unlink(path)
            else:
                os.replace(prepared, path)
    except OSError as error:
        for path, content in reversed(kept):
            if content is None:
                if os.path.exists(path):
                    os.unlink(path)
            else:
                os.replace(_ready(path, content), path)
        raise _refused(f"a file cannot be written: {error}") from error
    finally:
        for _, prepared in ready:
            if prepared is not None and os.path.exists(prepared):
                os.unlink(prepared)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _ready(path: str, content: bytes) -> str:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".firstcause-")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
    os.chmod(name, mode)
    return name


def _refused(reason: str) -> InputError:
    return InputError("patch-does-not-apply", reason, "make the diff anew against the files as they are now")
