from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstcause.schema.site import Site

SymptomKind = Literal[
    "nan", "exception", "signal", "exit-code", "divergence", "no-learning", "invariant", "expectation"
]


@dataclass(frozen=True)
class Symptom:
    """What was observed: its kind, a message with numbers, where, at which step (0-based) and rank."""

    kind: SymptomKind
    message: str
    site: Site | None = None
    step: int | None = None
    rank: int = 0
    intermittent: bool = False
