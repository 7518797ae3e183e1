"""A run's journals read in blocks: memory is held for one of them, however long the run."""

from __future__ import annotations

import glob
import json
import os
import struct
from array import array
from collections.abc import Iterator

from firstcause.record import journal
from firstcause.record.folder import RunFolder

STEP = struct.Struct("<q")
_BLOCK = 1 << 20


def journals_of(folder: RunFolder) -> list[str]:
    """The paths of a run's journals, one a process, by their names."""
    return sorted(glob.glob(os.path.join(glob.escape(folder.path), "*.journal")))


def frames_of(path: str, start: int = 0) -> Iterator[tuple[int, int, int, bytes]]:
    """Where each whole frame behind ``start`` ends, its kind, number and payload; memory is held for one block."""
    with open(path, "rb") as file:
        file.seek(start)
        rest, at = b"", start
        while block := file.read(_BLOCK):
            rest += block
            end = 0
            for _, end, kind, number, payload in journal.frames(rest):
                yield at + end, kind, number, payload
            # A frame that is half written, or lies across two blocks, is read with the next bytes.
            rest, at = rest[end:], at + end


def columns_of(path: str) -> list[list[str]]:
    """The sets of columns that a journal has, in the order in which they were written."""
    return [json.loads(payload) for _, kind, _, payload in frames_of(path) if kind == journal.SCHEMA]


def rows_of(path: str) -> Iterator[tuple[int, list[str], array[float]]]:
    """Step, columns and float32 values of every row of a journal."""
    known: dict[int, list[str]] = {}
    for _, kind, number, payload in frames_of(path):
        if kind == journal.SCHEMA:
            known[number] = json.loads(payload)
        elif kind == journal.METRICS and number in known:
            values = array("f", payload[STEP.size :])
            if len(values) == len(known[number]):
                yield STEP.unpack_from(payload)[0], known[number], values
