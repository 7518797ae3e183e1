"""What of a loader that was asked says that something is wrong with it. No torch here."""

from __future__ import annotations

from typing import Any

# What a walk through a loader tells of failures: a sample, a batch, a process that ended, a worker that did not begin.
FAILURES = ("raised", "collate", "deaths", "began")


def is_wrong(seen: dict[str, Any]) -> bool:
    """Whether a part cannot be sent, the sharing of a file changes what is read, or the walk failed."""
    return bool(seen.get("pickle") or (seen.get("handle") or {}).get("read") or has_failed(seen.get("walk")))


def has_failed(walk: dict[str, Any] | None) -> bool:
    """Whether a walk came to a failure."""
    return any((walk or {}).get(k) for k in FAILURES)
