from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Expectation:
    """What the user expected of a run, as typed; the number that was seen, and where; ``met`` is None if none was."""

    text: str
    observed: float | None = None
    met: bool | None = None
    where: str = ""
