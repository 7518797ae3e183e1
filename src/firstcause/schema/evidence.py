from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from firstcause.schema.site import Site

EvidenceKind = Literal["observation", "replay", "counterfactual", "experiment", "static"]


@dataclass(frozen=True)
class Evidence:
    """A measured fact: a sentence with its numbers, the numbers themselves, where, and which way it speaks."""

    kind: EvidenceKind
    supports: bool
    text: str
    values: dict[str, Any] = field(default_factory=dict)
    site: Site | None = None
    step: int | None = None
    rank: int = 0
