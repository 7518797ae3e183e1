"""Questions for the tests of triage: texts with the first step that is right for each."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

from firstcause.schema.triage import Triage
from firstcause.triage.conclude import conclude, says_nothing_else
from firstcause.triage.read import read
from firstcause.triage.words import understand


class Ask(NamedTuple):
    """A question, and where it belongs."""

    action: str
    specialist: str
    patterns: frozenset[str]
    text: str


def asks() -> list[Ask]:
    """The questions of asks.txt."""
    lines = (Path(__file__).parent / "asks.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|", 3) for line in lines if line and not line.startswith("#")]
    return [Ask(action, first, frozenset(patterns.split()), text) for action, first, patterns, text in rows]


def triaged(text: str) -> Triage:
    """The first step for a text, read as a file would be."""
    return conclude(read(io.BytesIO(text.encode("utf-8", "surrogatepass")), "ask.txt"))


def holds_only_claims(text: str) -> bool:
    """Whether nothing but claims is in a text, so that another claim may change what is looked at."""
    reading = read(io.BytesIO(text.encode("utf-8", "surrogatepass")), "ask.txt")
    return triaged(text).action != "route" and says_nothing_else(
        reading, understand(reading.prose, reading.code)
    )


def plan(triage: Triage) -> tuple[object, ...]:
    """What pressure may not change."""
    return triage.action, triage.routes, triage.patterns, triage.order
