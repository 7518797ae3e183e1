from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firstcause.schema.expectation import Expectation
from firstcause.schema.symptom import Symptom

RUN_SCHEMA = 1


@dataclass(frozen=True)
class Run:
    """A recorded execution: what was run, where and with what, how it ended, what failed."""

    id: str
    command: tuple[str, ...]
    folder: str
    started: str
    python: str
    platform: str
    seconds: float | None = None
    exit_code: int | None = None
    signal: int | None = None
    versions: dict[str, str] | None = None
    git_revision: str | None = None
    git_dirty: bool | None = None
    sources: dict[str, str] | None = None
    symptoms: tuple[Symptom, ...] = ()
    report: str | None = None
    observed: bool = False
    schema: int = RUN_SCHEMA
    notes: tuple[str, ...] = ()
    environment: dict[str, Any] | None = None
    expectations: tuple[Expectation, ...] = ()
