from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Instruction:
    """One thing that the user asked for (a key and a value), with the sentence it came from."""

    key: str
    value: str
    sentence: str
    relation: str = "eq"
    polarity: str = "require"
