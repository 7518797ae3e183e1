"""The lines of the program that a rank has run, kept where they outlive any death of it.

Two rings in shared files: the latest lines, each with the number of its call, and the latest calls, each with the call
it came from. A rank that ends in C++ takes nothing of them with it.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from types import CodeType, FrameType
from typing import Any

from firstcause.lab import places
from firstcause.lab.rings import CALL, CALLS, CODES, HEADER, LINE, LINES, MOST_CALLS, MOST_LINES


class Lines:
    """Follows the calling thread from ``frame`` on: its callers too, from their next line."""

    def __init__(self, folder: str, frame: FrameType) -> None:
        self.lines = _ring(os.path.join(folder, LINES), LINE, MOST_LINES)
        self.calls = _ring(os.path.join(folder, CALLS), CALL, MOST_CALLS)
        self.codes_path = os.path.join(folder, CODES)
        self.codes: dict[CodeType, int] = {}
        self.own: dict[str, bool] = {}
        self.taken = self.begun = 0
        for user in reversed(list(places.user_frames(frame))):
            number = self._call(user.f_code)
            self._line(number, user.f_lineno)
            user.f_trace = self._local(number)
        sys.settrace(self._begin)

    def _begin(self, frame: FrameType, event: str, argument: Any) -> Any:
        own = self.own.get(frame.f_code.co_filename)
        if own is None:
            own = self.own[frame.f_code.co_filename] = places.is_user_file(frame.f_code.co_filename)
        return self._local(self._call(frame.f_code)) if own else None

    def _local(self, number: int) -> Any:
        note = self._line

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                note(number, frame.f_lineno)
            elif event == "return":
                note(number, 0)
            return local

        return local

    def _line(self, number: int, line: int) -> None:
        LINE.pack_into(self.lines, HEADER.size + LINE.size * (self.taken % MOST_LINES), number, line)
        self.taken += 1
        HEADER.pack_into(self.lines, 0, self.taken)

    def _call(self, code: CodeType) -> int:
        known = self.codes.get(code)
        if known is None:
            known = self.codes[code] = len(self.codes)
            with open(self.codes_path, "a", encoding="utf-8") as file:
                file.write(f"{code.co_filename}\t{code.co_name}\t{code.co_firstlineno}\n")
        place = HEADER.size + CALL.size * (self.begun % MOST_CALLS)
        self.begun += 1
        CALL.pack_into(self.calls, place, self.begun, known)
        HEADER.pack_into(self.calls, 0, self.begun)
        return self.begun


def _ring(path: str, record: struct.Struct, most: int) -> mmap.mmap:
    size = HEADER.size + record.size * most
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.ftruncate(descriptor, size)
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)
