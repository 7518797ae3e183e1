"""Older histories in the terms of today: each event goes through a chain of functions, one a version.

Nothing on the disk is rewritten. The first event that a newer firstcause appends is preceded by ``migrated``:
events before it are read through the chain, events after it as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from firstcause.case.event import Event
from firstcause.case.gate import diagnosis_hash
from firstcause.errors import RecordError
from firstcause.schema import CASE_SCHEMA, Diagnosis, from_plain


def current(events: Iterable[Event]) -> Iterator[Event]:
    """The events as this version would have written them.

    Raises ``RecordError`` for a history of a newer version, or of none.
    """
    version = 0
    chain: list[Callable[[Event], Event]] = []
    for event in events:
        if event.event in ("opened", "migrated"):
            version = _version(event)
            chain = [MIGRATIONS[old]() for old in range(version, CASE_SCHEMA)]
        for step in chain:
            event = step(event)
        yield event


def version_of(events: Sequence[Event]) -> int:
    """The version in which the last of these events was written."""
    stated = [_version(event) for event in events if event.event in ("opened", "migrated")]
    return stated[-1] if stated else CASE_SCHEMA


def _version(event: Event) -> int:
    version = event.data.get("schema")
    if isinstance(version, int) and version > CASE_SCHEMA:
        message = f"this case is of version {version}, and this firstcause reads up to version {CASE_SCHEMA}"
        raise RecordError("case-version", message, "use the firstcause that wrote it, or a newer one")
    if not isinstance(version, int) or version < 1:
        message = f"event {event.seq} ({event.event}) states no version: {version!r}"
        raise RecordError("case-damaged", message, "the history was written by something else")
    return version


def _from_1() -> Callable[[Event], Event]:
    """Version 2 has several symptoms a case, what was asked beside its answer, and the files at an approval.

    Its hash of a diagnosis leaves out what has its default value, so that a later field changes no older hash.
    """
    hashes: dict[str, str] = {}

    def step(event: Event) -> Event:
        data: dict[str, Any] = dict(event.data)
        if event.event == "opened":
            data |= {"schema": 2, "inherited": []}
        elif event.event == "characterised":
            data = {"symptoms": [data["symptom"]] if data.get("symptom") else []}
        elif event.event == "hypotheses":
            plain = json.dumps(data["diagnosis"], sort_keys=True, separators=(",", ":"))
            old = hashlib.sha256(plain.encode("ascii")).hexdigest()
            hashes[old] = diagnosis_hash(from_plain(Diagnosis, data["diagnosis"]))
        elif event.event == "diagnosed":
            data["diagnosis_hash"] = hashes.get(data["diagnosis_hash"], "")
        elif event.event == "approved":
            data["diagnosis_hash"] = hashes.get(data["diagnosis_hash"], "")
            data |= {"asked": {}, "files": {}}
        elif event.event == "applied":
            data["complete"] = False
        elif event.event == "verified":
            data["symptoms"] = []
        return replace(event, data=data)

    return step


# Version: what makes a reader that brings its events to the next one.
MIGRATIONS: dict[int, Callable[[], Callable[[Event], Event]]] = {1: _from_1}
