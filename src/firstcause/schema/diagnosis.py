from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstcause.schema.fix import Fix
from firstcause.schema.hypothesis import Hypothesis
from firstcause.schema.site import Site
from firstcause.schema.symptom import Symptom

DiagnosisStatus = Literal["established", "not-established", "healthy"]

# The six sections of Gate 4, in the order in which a person reads them.
SECTIONS = (
    "Symptom",
    "Root Cause",
    "Why This Happens",
    "Proposed Fix",
    "What This Fix Will Change",
    "What This Fix Will NOT Fix",
)


@dataclass(frozen=True)
class Diagnosis:
    """The answer for one run: status, cause and site where established, all hypotheses, the six sections of Gate 4."""

    status: DiagnosisStatus
    symptom: Symptom | None
    cause: str | None
    site: Site | None
    hypotheses: tuple[Hypothesis, ...]
    sections: dict[str, str]
    fix: Fix | None = None
    missing: str = ""
