"""What people suspect that is no cause of the catalogue: a component, with the change that clears it."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field
from typing import Any

from firstcause.catalog.load import read
from firstcause.errors import KnowledgeError
from firstcause.schema import from_plain

SUSPECTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "suspects.toml")


@dataclass(frozen=True)
class Suspect:
    """A component: its name in words, how people name it, and the one change of ``lab/interventions`` that clears it.

    ``arm`` is the change in words; ``counts``, the fact of the changed arm that says how much of the program the change
    has reached. ``absent`` says what a replay of the failing step does without; where it fails all the same, the
    component is not needed for it. Without ``change`` nothing here can test it otherwise, and ``untested`` says what would.
    """

    title: str
    said: tuple[str, ...]
    change: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    arm: str = ""
    counts: str = ""
    absent: str = ""
    untested: str = ""


@functools.cache
def suspects() -> dict[str, Suspect]:
    """Every suspect by its id; raises ``KnowledgeError`` where the file cannot be used."""
    try:
        return {name: from_plain(Suspect, entry, name) for name, entry in read(SUSPECTS).items()}
    except ValueError as error:
        raise KnowledgeError("suspects-invalid", f"{SUSPECTS}: {error}", "correct the file") from error
