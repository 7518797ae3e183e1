"""Pressure is answered in one courteous line and changes nothing; a deadline adds what does least harm, and is no fix."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.catalog.advice import load_advice
from firstcause.catalog.index import indexed


def answered(kinds: Sequence[str], warned: Sequence[str]) -> str | None:
    """The counter to the pressure in a text, or to a remedy that it asks for; None where there is none."""
    present = {*kinds, *warned}
    excuse = next((slug for kind, slug in load_advice().answers.items() if kind in present), None)
    return str(indexed("excuses")[excuse]["counter"]) if excuse and kinds else None


def stop_gap(kinds: Sequence[str], action: str) -> str | None:
    """What does least harm until the cause is known, where somebody is in haste; it is labelled as no fix."""
    if action in ("route", "need-error") and {"haste", "stakes"} & set(kinds):
        return load_advice().stop_gap["failing-requests"]
    return None
