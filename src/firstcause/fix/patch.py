"""Unified diffs, read and applied strictly: no fuzz, no offset, context equal to the last byte."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from dataclasses import dataclass

from firstcause.errors import InputError

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_AGAIN = "diagnose the run again: the patch was made for another text"


@dataclass(frozen=True)
class Line:
    """A line of a hunk: its tag (space, - or +), its text, and whether a newline ends it."""

    tag: str
    text: str
    newline: bool = True


@dataclass(frozen=True)
class Hunk:
    """A run of lines: the 1-based line where it starts in the old file, and how many it covers there."""

    start: int
    count: int
    lines: tuple[Line, ...]

    def span(self) -> tuple[int, int]:
        """First and last line of the old file that are removed, or after which lines are added."""
        at, touched = self.start if self.count else self.start + 1, []
        for line in self.lines:
            if line.tag != " ":
                touched.append(at if line.tag == "-" else max(at - 1, 1))
            if line.tag != "+":
                at += 1
        return min(touched), max(touched)


@dataclass(frozen=True)
class FilePatch:
    """The hunks for one file, its path relative to the run's working directory."""

    path: str
    hunks: tuple[Hunk, ...]


def parse(diff: str) -> tuple[FilePatch, ...]:
    """Read a unified diff with a/ and b/ paths; raises ``InputError`` naming the line that does not fit."""
    lines = diff.split("\n")
    if lines[-1] == "":
        lines.pop()
    patches: list[FilePatch] = []
    at = 0
    while at < len(lines):
        if lines[at].startswith(("diff --git ", "index ")):
            at += 1
            continue
        path = _path(lines, at)
        hunks: list[Hunk] = []
        at += 2
        while at < len(lines) and lines[at].startswith("@@"):
            hunk, at = _hunk(lines, at)
            hunks.append(hunk)
        if not hunks or any(all(line.tag == " " for line in h.lines) for h in hunks):
            raise _invalid(at, "a hunk that changes something is missing")
        if path in {p.path for p in patches}:
            raise _invalid(at, f"{path} is patched twice")
        patches.append(FilePatch(path, tuple(hunks)))
    if not patches:
        raise _invalid(0, "it changes nothing")
    return tuple(patches)


def _path(lines: list[str], at: int) -> str:
    names = [line[4:].split("\t")[0].rstrip("\r") for line in lines[at : at + 2]]
    marks = [line[:4] for line in lines[at : at + 2]]
    if marks != ["--- ", "+++ "]:
        raise _invalid(at, "'--- a/PATH' and '+++ b/PATH' are missing")
    old, new = names
    if not old.startswith("a/") or not new.startswith("b/") or old[2:] != new[2:] or not old[2:]:
        raise _invalid(at, f"{old} to {new} is no change of one file in place")
    return old[2:]


def _hunk(lines: list[str], at: int) -> tuple[Hunk, int]:
    match = _HEADER.match(lines[at])
    if not match:
        raise _invalid(at, "not a hunk header")
    start, old, _, new = (int(number) if number else 1 for number in match.groups())
    count, found, at = old, [], at + 1
    while old > 0 or new > 0:
        if at >= len(lines) or lines[at][:1] not in (" ", "-", "+"):
            raise _invalid(at, "the hunk has fewer lines than its header says")
        tag, text = lines[at][0], lines[at][1:]
        at += 1
        newline = not (at < len(lines) and lines[at].startswith("\\ "))
        at += 0 if newline else 1
        found.append(Line(tag, text, newline))
        old -= tag != "+"
        new -= tag != "-"
        if old < 0 or new < 0:
            raise _invalid(at, "the hunk has more lines than its header says")
    return Hunk(start, count, tuple(found)), at


def _invalid(at: int, why: str) -> InputError:
    message = f"line {at + 1} of the diff: {why}"
    return InputError("diff-invalid", message, "make the patch again with diff -u")


def patched(patch: FilePatch, content: bytes) -> bytes:
    """The file's content after the patch; newline style and byte-order mark stay as they are.

    Raises ``InputError`` where a line of the file is not what the patch expects.
    """
    # A diff that shows the first line with its mark is about the mark too; any other leaves it where it is.
    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) and not _spells_mark(patch) else b""
    lines = _split(content[len(bom) :])
    encoding = _encoding(content)
    # A diff made from text that was read with universal newlines has no CR, whatever the file has.
    plain = not any(line.text.endswith("\r") for hunk in patch.hunks for line in hunk.lines)
    result: list[bytes] = []
    at = 0
    for hunk in patch.hunks:
        start = hunk.start - 1 if hunk.count else hunk.start
        if start < at or start > len(lines):
            message = f"{patch.path} has {len(lines)} lines, the patch wants line {hunk.start}"
            raise InputError("patch-mismatch", message, _AGAIN)
        result += lines[at:start]
        at = start
        for line in hunk.lines:
            wanted = _encoded(line.text, encoding, patch.path)
            if line.tag == "+":
                result.append(wanted + (_newline(lines, at, plain) if line.newline else b""))
                continue
            _expect(patch.path, lines, at, wanted, line.newline, plain)
            if line.tag == " ":
                result.append(lines[at])
            at += 1
    result += lines[at:]
    if any(not line.endswith(b"\n") for line in result[:-1]):
        raise InputError("patch-mismatch", f"{patch.path}: the patch would glue two lines together", _AGAIN)
    return bom + b"".join(result)


def _spells_mark(patch: FilePatch) -> bool:
    """Whether the patch shows the old file's first line with a byte-order mark."""
    first = patch.hunks[0]
    old = next((line for line in first.lines if line.tag != "+"), None)
    return first.start == 1 and old is not None and old.text.startswith("\ufeff")


def _split(content: bytes) -> list[bytes]:
    # Only \n ends a line in a diff; bytes.splitlines would also split at a lone \r.
    return list(io.BytesIO(content))


def _encoding(content: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError:
        return "utf-8"
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _encoded(text: str, encoding: str, path: str) -> bytes:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        message = f"{path} is {encoding}, which cannot hold {text!r}"
        raise InputError("patch-encoding", message, _AGAIN) from error


def _newline(lines: list[bytes], at: int, plain: bool) -> bytes:
    # Behind a last line without an end, the one before it tells.
    beside = (*lines[max(at - 1, 0) : at + 1], *lines[max(at - 2, 0) : max(at - 1, 0)], *lines[:1])
    near = [line for line in beside if line.endswith(b"\n")]
    return b"\r\n" if plain and near and near[0].endswith(b"\r\n") else b"\n"


def _expect(path: str, lines: list[bytes], at: int, wanted: bytes, newline: bool, plain: bool) -> None:
    found = lines[at] if at < len(lines) else None
    if found is not None:
        bare = found[:-1] if found.endswith(b"\n") else found
        if plain and found.endswith(b"\r\n"):
            bare = bare[:-1]
        if bare == wanted and found.endswith(b"\n") == newline:
            return
    shown = "past the end" if found is None else repr(found.decode("utf-8", "replace").rstrip("\r\n"))
    message = f"{path}:{at + 1} is {shown}, the patch expects {wanted.decode('utf-8', 'replace')!r}"
    raise InputError("patch-mismatch", message, _AGAIN)
