"""The journal: append-only frames that stay readable while written and after SIGKILL up to the last one.

A damaged frame costs itself alone: reading goes on at the next whole one.

A frame is a header (magic, kind, number, payload length, CRC32 of the payload begun with kind and number) and a payload.
Metrics are float32 rows after a schema frame of the same number that names the columns; events are JSON objects, of
number 0. One ``os.write`` a frame.
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

from firstcause.record import redact

HEADER = struct.Struct("<2sBBII")
MAGIC = b"FC"
SCHEMA, METRICS, EVENT = 1, 2, 3
_STEP = struct.Struct("<q")
# Each optimizer of a program has columns of its own; more sets of them take the numbers of the first again.
_NUMBERS = 256
_NO_LIMIT = float("inf")


def file_size_limit() -> float:
    """Bytes that a file of this process may have; beyond it the kernel sends SIGXFSZ, which ends the program."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return _NO_LIMIT if limit == resource.RLIM_INFINITY else limit


class Journal:
    """Writes frames to one file; every call opens it, appends once, and closes it (15 us in all)."""

    def __init__(self, path: str, descriptor: int | None = None) -> None:
        self.path = path
        # Only a sealed process holds one: a program may close every descriptor that it does not know, and open
        # a file of its own under the same number.
        self._descriptor = descriptor
        # By the identity of the tuple, which is held here: the names of thousands of columns are not compared.
        self._numbers: dict[int, tuple[int, tuple[str, ...]]] = {}
        self._schemas = 0

    def event(self, kind: str, **data: Any) -> None:
        """Append one event: its kind and JSON-ready data."""
        plain = redact.value({"event": kind, **data}, redact.held())
        self._frame(EVENT, json.dumps(plain, default=str).encode())

    def metrics(self, step: int, columns: tuple[str, ...], row: list[float]) -> None:
        """Append one row of float32 values for ``step``; columns that are new are written first."""
        known = self._numbers.get(id(columns))
        number = known[0] if known is not None else self._schema(columns)
        self._frame(METRICS, _STEP.pack(step) + array("f", row).tobytes(), number)

    def _schema(self, columns: tuple[str, ...]) -> int:
        number = next((n for n, c in self._numbers.values() if c == columns), None)
        if number is None:
            number = self._schemas % _NUMBERS
            self._schemas += 1
            self._frame(SCHEMA, json.dumps(columns).encode(), number)
        self._numbers = {i: known for i, known in self._numbers.items() if known[0] != number}
        self._numbers[id(columns)] = number, columns
        return number

    def _frame(self, kind: int, payload: bytes, number: int = 0) -> None:
        check = zlib.crc32(payload, kind | number << 8)
        data = HEADER.pack(MAGIC, kind, number, len(payload), check) + payload
        if self._descriptor is not None:
            os.write(self._descriptor, data)
            return
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            limit = file_size_limit()
            if limit != _NO_LIMIT and os.fstat(descriptor).st_size + len(data) > limit:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), self.path)
            written = os.write(descriptor, data)
            if written < len(data):
                # The disk took a part: frames behind a torn one would be lost with it.
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self.path)
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
    """Read every whole frame, also behind damage; never raises on bad content."""
    with open(path, "rb") as file:
        data = file.read()
    rows: list[Row] = []
    events: list[dict[str, Any]] = []
    schemas: dict[int, tuple[str, ...]] = {}
    good = end = 0
    for start, stop, kind, number, payload in frames(data):
        if start > end and not _is_row(data[end:start], schemas):
            # What was lost may have named other columns: values without sure names are none.
            schemas = {}
        end = stop
        try:
            if kind == SCHEMA:
                schemas[number] = tuple(json.loads(payload))
            elif kind == EVENT:
                events.append(dict(json.loads(payload)))
            elif kind == METRICS:
                values = array("f", payload[_STEP.size :])
                columns = schemas.get(number)
                if columns is None or len(columns) != len(values):
                    continue
                rows.append(Row(_STEP.unpack_from(payload)[0], columns, tuple(values)))
        except (ValueError, TypeError, struct.error):
            continue
        good += stop - start
    return Reading(tuple(rows), tuple(events), len(data) - good)


def _is_row(lost: bytes, schemas: dict[int, tuple[str, ...]]) -> bool:
    """Whether damaged bytes were one row of these columns."""
    if len(lost) < HEADER.size or lost[len(MAGIC)] != METRICS:
        return False
    columns = schemas.get(lost[len(MAGIC) + 1])
    return columns is not None and len(lost) == HEADER.size + _STEP.size + 4 * len(columns)


def frames(data: bytes) -> Iterator[tuple[int, int, int, int, bytes]]:
    """Begin, end, kind, number and payload of each whole frame of these bytes."""
    at = 0
    while at + HEADER.size <= len(data):
        magic, kind, number, length, crc = HEADER.unpack_from(data, at)
        payload = data[at + HEADER.size : at + HEADER.size + length]
        if magic != MAGIC or len(payload) < length or zlib.crc32(payload, kind | number << 8) != crc:
            following = data.find(MAGIC, at + 1)
            if following < 0:
                return
            at = following
            continue
        yield at, at + HEADER.size + length, kind, number, payload
        at += HEADER.size + length
