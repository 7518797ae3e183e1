from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstcause.schema.diagnosis import Diagnosis

CASE_SCHEMA = 2

State = Literal[
    "open",
    "characterised",
    "hypotheses",
    "diagnosed",
    "approved",
    "fixed",
    "verified",
    "closed",
    "stopped",
]


@dataclass(frozen=True)
class Case:
    """A failure being worked on: its run, its state, the diagnosis in force, the strikes so far."""

    id: str
    run: str
    state: State
    opened: str
    diagnosis: Diagnosis | None = None
    strikes: int = 0
    schema: int = CASE_SCHEMA
