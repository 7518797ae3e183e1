"""The journal: append-only frames that stay readable while written and after SIGKILL up to the last one.

A frame is a header (magic, kind, payload length, CRC32 of the payload begun with the kind) and a payload. Metrics are float32
rows after a schema frame that names the columns; events are JSON objects. One ``os.write`` a frame.
"""

from __future__ import annotations

import errno
import json
import math
import os
import resource
import struct
import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("<2sBxII")
MAGIC = b"FC"
SCHEMA, METRICS, EVENT = 1, 2, 3
_STEP = struct.Struct("<q")


def file_size_limit() -> float:
    """Bytes that a file of this process may have; beyond it the kernel sends SIGXFSZ, which ends the program."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else limit


class Journal:
    """Writes frames to one file; every call opens it, appends once, and closes it (15 us in all)."""

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        self.path = path
        # Only a sealed process holds one: a program may close every descriptor that it does not know, and open
        # a file of its own under the same number.
        self._descriptor = descriptor
        self._columns: tuple[str, ...] = ()

    def event(self, kind: str, **data: Any) -> None:
        """Append one event: its kind and JSON-ready data."""
        self._frame(EVENT, json.dumps({"event": kind, **data}, default=str).encode())

    def metrics(self, step: int, columns: tuple[str, ...], row: list[float]) -> None:
        """Append one row of float32 values for ``step``; a change of columns is written first."""
        if columns != self._columns:
            self._columns = columns
            self._frame(SCHEMA, json.dumps(columns).encode())
        self._frame(METRICS, _STEP.pack(step) + array("f", row).tobytes())

    def _frame(self, kind: int, payload: bytes) -> None:
        data = HEADER.pack(MAGIC, kind, len(payload), zlib.crc32(payload, kind)) + payload
        if self._descriptor is not None:
            os.write(self._descriptor, data)
            return
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(descriptor).st_size + len(data) > file_size_limit():
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), self.path)
            os.write(descriptor, data)
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class Row:
    """One step's metrics: step (0-based), column names and float32 values."""

    step: int
    columns: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Reading:
    """What could be read of a journal, and the bytes left behind it that could not."""

    rows: tuple[Row, ...]
    events: tuple[dict[str, Any], ...]
    lost_bytes: int


def steps_of(readings: Iterable[Reading]) -> list[dict[str, Any]]:
    """The figures of each step by name, and its number as ``step``, of the process that took most steps."""
    longest = max((r.rows for r in readings), key=len, default=())
    return [{"step": r.step, **dict(zip(r.columns, r.values, strict=True))} for r in longest]


def columns_of(readings: Iterable[Reading]) -> dict[str, list[float]]:
    """The same figures by column."""
    result: dict[str, list[float]] = {}
    for step in steps_of(readings):
        for name, value in step.items():
            if name != "step":
                result.setdefault(name, []).append(value)
    return result


def finite(steps: Iterable[dict[str, Any]], column: str) -> list[float]:
    """The finite values of one column, in the order of the steps."""
    return [s[column] for s in steps if math.isfinite(s.get(column, math.nan))]


def read(path: str) -> Reading:
    """Read every frame up to the first that is torn or damaged; never raises on bad content."""
    with open(path, "rb") as file:
        data = file.read()
    rows: list[Row] = []
    events: list[dict[str, Any]] = []
    columns: tuple[str, ...] = ()
    good = 0
    for end, kind, payload in _frames(data):
        try:
            if kind == SCHEMA:
                columns = tuple(json.loads(payload))
            elif kind == EVENT:
                events.append(dict(json.loads(payload)))
            elif kind == METRICS:
                values = array("f", payload[_STEP.size :])
                rows.append(Row(_STEP.unpack_from(payload)[0], columns, tuple(values)))
        except (ValueError, TypeError, struct.error):
            break
        good = end
    return Reading(tuple(rows), tuple(events), len(data) - good)


def _frames(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at + HEADER.size <= len(data):
        magic, kind, length, crc = HEADER.unpack_from(data, at)
        payload = data[at + HEADER.size : at + HEADER.size + length]
        if magic != MAGIC or len(payload) < length or zlib.crc32(payload, kind) != crc:
            return
        at += HEADER.size + length
        yield at, kind, payload
