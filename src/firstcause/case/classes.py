"""The classes of a fix: A code, B design, C environment; what each asks of applying and of verifying."""

from __future__ import annotations

from firstcause import catalog
from firstcause.errors import FirstcauseError
from firstcause.schema import Diagnosis

LETTERS = {"code": "A", "design": "B", "environment": "C"}
# What is applied, by whom, and what a verification then asks for.
MEANING = {
    "code": "a line does not do what it says; the patch is applied, and no other file may change",
    "design": "the code does what it says, and that does not train; a person decides, and confirms the files changed for it",
    "environment": "the cause lies outside of the code; a person sets it right there, and the files stay as they are",
}


def class_of(diagnosis: Diagnosis) -> str:
    """code, design or environment: as the fix says, else as the catalogue says of the cause."""
    if diagnosis.fix is not None and diagnosis.fix.category in LETTERS and diagnosis.fix.category != "code":
        return diagnosis.fix.category
    try:
        return catalog.cause(diagnosis.cause or "").category
    except FirstcauseError:
        # A case may be older than the catalogue, or about a cause that it has dropped.
        return "code"


def has_patch(diagnosis: Diagnosis) -> bool:
    """Whether the diagnosis proposes a patch; else a person carries its fix out by hand."""
    return diagnosis.fix is not None and bool(diagnosis.fix.diff.strip())


def instructions(diagnosis: Diagnosis) -> str:
    """What a person is asked to do where there is no patch."""
    return diagnosis.sections.get("Proposed Fix", "").strip()
