"""One line of a case's history: what happened, when, and the digest that chains it to the line before."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import Any

from firstcause.schema import to_plain

START = "0" * 64


@dataclass(frozen=True)
class Event:
    """Something that happened to a case: its number from 0, UTC time, kind, and JSON-ready data."""

    seq: int
    time: str
    event: str
    data: dict[str, Any]


def now() -> str:
    """The time in UTC as ISO 8601, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def encode(event: Event, previous: str) -> bytes:
    """The event as one line without its newline; ``previous`` is the digest of the line before."""
    record = {**to_plain(event), "previous": previous}
    # ASCII only: no character that some reader takes for a line break, and lone surrogates survive.
    return json.dumps(record, allow_nan=False, separators=(",", ":")).encode("ascii")


def decode(line: bytes, seq: int, previous: str) -> Event:
    """The event of a line; raises ``ValueError`` saying what does not fit."""
    record = json.loads(line)
    if not isinstance(record, dict) or set(record) != {"seq", "time", "event", "data", "previous"}:
        raise ValueError("is not an event")
    if record["previous"] != previous or record["seq"] != seq:
        raise ValueError("does not follow from the line before: a line was changed, removed or added")
    if not isinstance(record["data"], dict):
        raise ValueError("has no data")
    return Event(seq, str(record["time"]), str(record["event"]), record["data"])
