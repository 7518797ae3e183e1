"""Where the batches of one run stand in those of another; no torch here."""

from __future__ import annotations

from collections.abc import Sequence

# Batches in a row that must be those of another place before it is said that they are, and those that are compared.
LEAST, COMPARED = 3, 12


def only_start(there: Sequence[str | None], here: Sequence[str | None]) -> int | None:
    """The one place of ``there`` from which its batches are ``here``, to the end of the shorter; None for none or several."""
    if len(set(here)) < LEAST or not all(here):
        return None
    places = range(len(there) - LEAST + 1)
    starts = [n for n in places if list(there[n : n + len(here)]) == list(here)[: len(there) - n]]
    return starts[0] if len(starts) == 1 else None
