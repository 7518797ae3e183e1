from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fix:
    """A patch: unified diff with a/ and b/ prefixes relative to the run's folder, its cause, what it does and does not."""

    cause: str
    diff: str
    summary: str
    changes: str
    does_not_fix: str
    # code, design or environment: who has to act.
    category: str = "code"
