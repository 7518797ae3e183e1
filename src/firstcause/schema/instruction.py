from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Relation = Literal["eq", "max", "min", "approx"]
Polarity = Literal["require", "forbid"]
Strength = Literal["must", "should", "may"]
Scope = Literal["", "per_device", "total", "source", "target", "train", "eval"]


@dataclass(frozen=True)
class Instruction:
    """One thing that the user asked for (a key and a value), with the sentence it came from.

    ``value`` is a number, text, bool or list in normal form (a share as a fraction, 8k tokens as 8192); "none" where
    the thing itself is unwanted. ``origin`` says which text and line. ``derived`` follows from others by arithmetic.
    """

    key: str
    value: Any
    sentence: str
    relation: Relation = "eq"
    polarity: Polarity = "require"
    strength: Strength = "must"
    scope: Scope = ""
    status: Literal["active", "superseded"] = "active"
    condition: str = ""
    origin: str = ""
    line: int = 0
    derived: bool = False
