"""A journal followed while it grows: every byte is read once, and what is kept does not grow with the run."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from firstcause.record import journal
from firstcause.record.blocks import STEP, frames_of
from firstcause.view.thinning import Thinned

# Of one kind; a program that fails in every step would else fill the page with one sentence.
MOST_EVENTS = 500
_NAME = re.compile(r"rank-(\d+)-(\d+)")


class Follower:
    """The rows of a journal, thinned, by their set of columns, and its events; ``advance`` reads what is new.

    ``first`` and ``last`` are the steps to look at, all of them by default.
    """

    def __init__(self, path: str, first: int | None = None, last: int | None = None) -> None:
        self.path = path
        self.name = os.path.basename(path).removesuffix(".journal")
        named = _NAME.match(self.name)
        self.rank = int(named[1]) if named else 0
        self.tracks: dict[tuple[str, ...], Thinned] = {}
        self.events: list[dict[str, Any]] = []
        self.left_events = 0
        self._counts: dict[str, int] = {}
        self._schemas: dict[int, Thinned] = {}
        self._offset = 0
        self._first = first
        self._last = last

    def advance(self) -> bool:
        """Read what was appended since the last time; whether there was anything."""
        start = self._offset
        for end, kind, number, payload in frames_of(self.path, start):
            self._take(kind, number, payload)
            self._offset = end
        return self._offset > start

    def _take(self, kind: int, number: int, payload: bytes) -> None:
        if kind == journal.METRICS:
            thinned = self._schemas.get(number)
            step = STEP.unpack_from(payload)[0] if len(payload) >= STEP.size else -1
            if thinned is None or len(payload) != STEP.size + 4 * len(thinned.columns):
                return
            if (self._first is None or step >= self._first) and (self._last is None or step <= self._last):
                thinned.add(step, payload[STEP.size :])
            return
        try:
            value = json.loads(payload)
        except ValueError:
            return
        if kind == journal.SCHEMA and isinstance(value, list) and all(isinstance(c, str) for c in value):
            columns = tuple(value)
            self._schemas[number] = self.tracks.setdefault(columns, Thinned(columns))
        elif kind == journal.EVENT and isinstance(value, dict):
            name = str(value.get("event"))
            self._counts[name] = self._counts.get(name, 0) + 1
            if self._counts[name] <= MOST_EVENTS:
                self.events.append(value)
            else:
                self.left_events += 1
