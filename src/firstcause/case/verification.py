from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Verification:
    """What running the program again showed: passed or not, one sentence with its numbers, the numbers."""

    passed: bool
    text: str
    values: dict[str, Any] = field(default_factory=dict)
