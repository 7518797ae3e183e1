"""The rings in which a watched rank keeps its latest lines and calls, and how they are read."""

from __future__ import annotations

import os
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

LINES, CALLS, CODES = "lines", "calls", "codes"
HEADER = struct.Struct("<Q")
# The number of the call, and its line; 0 where the call has returned.
LINE = struct.Struct("<II")
# Its number, and that of its function.
CALL = struct.Struct("<II")
MOST_LINES, MOST_CALLS = 1 << 20, 1 << 18


@dataclass(frozen=True)
class Code:
    """A function of the program: its file, its name and its first line."""

    file: str
    function: str
    first_line: int


@dataclass(frozen=True)
class Way:
    """What a rank has run: the latest lines, each with its call, and of each call the function.

    ``whole`` says that nothing of it was overwritten.
    """

    lines: tuple[tuple[int, int], ...] = ()
    calls: Mapping[int, Code] = field(default_factory=dict)
    whole: bool = False

    def until(self, file: str, function: str, line: int) -> Way:
        """The way up to the last time that it came to this line; all of it where it never did."""
        for at in range(len(self.lines) - 1, -1, -1):
            number, here = self.lines[at]
            code = self.calls.get(number)
            if here == line and code is not None and (code.file, code.function) == (file, function):
                return Way(self.lines[: at + 1], self.calls, self.whole)
        return self

    def begun(self) -> Counter[Code]:
        """How often each function was called."""
        seen = {number for number, _ in self.lines}
        return Counter(self.calls[number] for number in seen if number in self.calls)

    def followed(self) -> Counter[tuple[Code, int, int]]:
        """How often a line of a function was followed by another one in the same call; by 0 where the call returned."""
        before: dict[int, int] = {}
        found: Counter[tuple[Code, int, int]] = Counter()
        for number, line in self.lines:
            code = self.calls.get(number)
            if code is not None:
                if before.get(number):
                    found[(code, before[number], line)] += 1
                before[number] = line
        return found


def read(folder: str, moved: tuple[str, str] = ("", "")) -> Way:
    """The way of the rank whose folder this is, empty where it wrote none; paths from ``moved[0]`` on begin with ``moved[1]``."""
    try:
        codes = _codes(os.path.join(folder, CODES), moved)
        with open(os.path.join(folder, CALLS), "rb") as file:
            calls = file.read()
        with open(os.path.join(folder, LINES), "rb") as file:
            lines = file.read()
    except OSError:
        return Way()
    begun = (CALL.unpack_from(calls, place) for place in _places(calls, CALL, MOST_CALLS))
    whole = HEADER.unpack_from(lines)[0] <= MOST_LINES and HEADER.unpack_from(calls)[0] <= MOST_CALLS
    return Way(
        tuple(LINE.unpack_from(lines, place) for place in _places(lines, LINE, MOST_LINES)),
        {number: codes[code] for number, code in begun if number and code < len(codes)},
        whole,
    )


def _places(data: bytes, record: struct.Struct, most: int) -> list[int]:
    """Where the records lie, the oldest first."""
    taken = HEADER.unpack_from(data)[0]
    kept = min(taken, most)
    return [HEADER.size + record.size * (i % most) for i in range(taken - kept, taken)]


def _codes(path: str, moved: tuple[str, str]) -> list[Code]:
    old, new = moved
    with open(path, encoding="utf-8") as file:
        split = [line.rstrip("\n").split("\t") for line in file]
    return [
        Code(new + s[0].removeprefix(old) if old and s[0].startswith(old) else s[0], s[1], int(s[2]))
        for s in split
        if len(s) == 3
    ]
