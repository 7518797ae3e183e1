"""What stands in place of an argument or a name that is gone."""

from __future__ import annotations

import functools
import os
from typing import Literal

from firstcause.catalog.load import CAUSES, read

_TABLE = os.path.join(os.path.dirname(CAUSES), "check", "renamed.toml")


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    return read(_TABLE)


def instead(kind: Literal["arguments", "exports"], name: str) -> str:
    """What to write instead of a name, or an empty text."""
    return _table()[kind].get(name, "")
