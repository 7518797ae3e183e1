from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstcause.schema.evidence import Evidence
from firstcause.schema.site import Site

HypothesisStatus = Literal["open", "confirmed", "refuted", "inconclusive"]


@dataclass(frozen=True)
class Hypothesis:
    """A cause of the catalogue at a site, its rank (1 is tried first), its status and the evidence for and against."""

    cause: str
    site: Site | None
    rank: int
    status: HypothesisStatus = "open"
    evidence: tuple[Evidence, ...] = ()
    missing: str = ""
