"""Edits of source text that leave everything else as it is written, and their unified diff."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from firstcause.errors import InputError

CONTEXT = 3
Place = tuple[int, int]
Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Edit:
    """A range of a file and the text that takes its place.

    ``start`` and ``end`` are a 1-based line and a column in UTF-8 bytes, as ``ast`` counts them; an
    empty range inserts.
    """

    path: str
    start: Place
    end: Place
    new_text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made, given for the text as it was; raises ``InputError`` where two overlap."""
    lines = [line for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text) if line]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    ranges = sorted(
        (_offset(lines, starts, e.start), _offset(lines, starts, e.end), order, e.new_text)
        for order, e in enumerate(dict.fromkeys(edits))
    )
    pieces, at = [], 0
    for start, end, _, new in ranges:
        if start < at or end < start:
            raise InputError(
                "edits-overlap", f"two edits change the text at offset {start}", "make one edit of them"
            )
        pieces += [text[at:start], new]
        at = end
    return "".join([*pieces, text[at:]])


def _offset(lines: Sequence[str], starts: Sequence[int], place: Place) -> int:
    line, column = place
    if line > len(lines):
        return starts[-1]
    content = lines[line - 1]
    characters = column if content.isascii() else len(content.encode()[:column].decode(errors="ignore"))
    return starts[line - 1] + min(characters, len(content))


def unified_diff(path: str, before: str, after: str) -> str:
    """The change of one file as ``patch -p1`` and ``git apply`` read it; empty where nothing changes.

    ``path`` is relative to the folder in which the diff is applied. Line ends stay as they are.
    """
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    path = path.replace("\\", "/")
    # An absent side makes patch create or remove the file, which an empty file is not.
    parts = [f"--- a/{path}\n", f"+++ b/{path}\n"]
    for group in _groups(_opcodes(old, new)):
        parts += _hunk(group, old, new)
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Lines with their ends, split at newlines only: a form feed or a lone carriage return ends no line for patch."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _opcodes(old: list[str], new: list[str]) -> list[Opcode]:
    """What changes, found between the common head and tail, so that large files stay cheap."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = difflib.SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    found: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    found += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle.get_opcodes()]
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return found


def _groups(opcodes: list[Opcode]) -> list[list[Opcode]]:
    """The changes in groups whose contexts do not touch."""
    groups: list[list[Opcode]] = [[]]
    for number, (tag, a, b, c, d) in enumerate(opcodes):
        if tag != "equal":
            groups[-1].append((tag, a, b, c, d))
            continue
        is_first, is_last = number == 0, number == len(opcodes) - 1
        if is_first:
            a, c = max(a, b - CONTEXT), max(c, d - CONTEXT)
        elif is_last:
            b, d = min(b, a + CONTEXT), min(d, c + CONTEXT)
        elif b - a > 2 * CONTEXT:
            groups[-1].append((tag, a, a + CONTEXT, c, c + CONTEXT))
            groups.append([])
            a, c = b - CONTEXT, d - CONTEXT
        groups[-1].append((tag, a, b, c, d))
    return groups


def _hunk(group: list[Opcode], old: list[str], new: list[str]) -> list[str]:
    first, last = group[0], group[-1]
    lines = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
    for tag, a, b, c, d in group:
        if tag == "equal":
            lines += [_marked(" ", line) for line in old[a:b]]
        else:
            lines += [_marked("-", line) for line in old[a:b]]
            lines += [_marked("+", line) for line in new[c:d]]
    return lines


def _range(start: int, end: int) -> str:
    # An empty range is named by the line before it.
    count = end - start
    return f"{start + 1 if count else start},{count}"


def _marked(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
