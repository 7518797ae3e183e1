"""What stands in place of an argument or a name that is gone."""

from __future__ import annotations

from typing import Literal

from firstcause.catalog.toml import check_table


def instead(kind: Literal["arguments", "exports"], name: str) -> str:
    """What to write instead of a name, or an empty text."""
    found: str = check_table("renamed")[kind].get(name, "")
    return found
