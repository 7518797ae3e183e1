"""A diff as pairs of whole texts: the files are read, and the side that is missing is made from the hunks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import takewhile

from firstcause.errors import InputError
from firstcause.fix.patch import FilePatch, Hunk, Line, parse, patched
from firstcause.fix.review.sides import Change

# Behind it git names modes and similarities, or binary content: no line of the file before.
_NEXT_FILE = "diff --git "


def changes_of(diff: str, root: str) -> list[Change]:
    """The files of a unified diff, with a/ and b/ paths below ``root``, before and after.

    The files may hold either side: a patch that waits, or one that was applied. Raises ``InputError`` where the diff
    cannot be read, or a file holds neither side.
    """
    found = [_change(old, new, section, root) for old, new, section in _sections(diff)]
    if not found:
        raise InputError("diff-invalid", "the diff changes no file", "make it with diff -u or git diff")
    return found


def _sections(diff: str) -> Iterator[tuple[str, str, str]]:
    """The diff file by file: its old and its new path, empty where there is no such side, and its lines."""
    lines = diff.split("\n")
    starts = [
        at
        for at, line in enumerate(lines[:-1])
        if line.startswith("--- ") and lines[at + 1].startswith("+++ ")
    ]
    for at, end in zip(starts, [*starts, len(lines)][1:], strict=True):
        names = [line[4:].split("\t")[0].strip() for line in lines[at : at + 2]]
        old, new = (
            "" if name == "/dev/null" else name.removeprefix(side)
            for name, side in zip(names, ("a/", "b/"), strict=True)
        )
        own = takewhile(lambda line: not line.startswith(_NEXT_FILE), lines[at + 2 : end])
        yield old, new, "\n".join(own).rstrip("\n")


def _change(old: str, new: str, body: str, root: str) -> Change:
    path = new or old
    inner = f"--- a/{path}\n+++ b/{path}\n{body}\n"
    patch = parse(inner)[0]
    if not old or not new:
        lines = [line.text for hunk in patch.hunks for line in hunk.lines]
        text = "\n".join(lines) + "\n"
        return Change(path, "", text) if not old else Change(path, text, "")
    content = _content(root, path)
    try:
        return Change(path, _text(content), _text(patched(patch, content)))
    except InputError as waiting:
        try:
            return Change(path, _text(patched(_reversed(patch), content)), _text(content))
        except InputError:
            raise waiting from None


def _content(root: str, path: str) -> bytes:
    real_root, real = os.path.realpath(root), os.path.realpath(os.path.join(root, path))
    if os.path.commonpath([real_root, real]) != real_root:
        raise InputError(
            "patch-outside",
            f"the diff names {path!r}, which is not below {root}",
            "name files of the project",
        )
    try:
        with open(real, "rb") as file:
            return file.read()
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise InputError(
            "patch-no-file", message, "run it in the folder to which the paths of the diff belong"
        ) from error


def _reversed(patch: FilePatch) -> FilePatch:
    """The patch that takes this one out again."""
    hunks, shift = [], 0
    for hunk in patch.hunks:
        swapped = tuple(
            Line({"+": "-", "-": "+"}.get(line.tag, " "), line.text, line.newline) for line in hunk.lines
        )
        count = sum(line.tag != "+" for line in swapped)
        first = hunk.start if hunk.count else hunk.start + 1
        start = first + shift
        hunks.append(Hunk(start if count else start - 1, count, _removals_first(swapped)))
        shift += count - hunk.count
    return FilePatch(patch.path, tuple(hunks))


def _removals_first(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """Within each change the removed lines before the added ones: swapped, they stand the other way round."""
    result: list[Line] = []
    added: list[Line] = []
    for line in lines:
        if line.tag == "+":
            added.append(line)
            continue
        if line.tag == " ":
            result += added
            added = []
        result.append(line)
    return (*result, *added)


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
