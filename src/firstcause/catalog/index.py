"""The catalogue's entries of a kind, from one JSON file each: a hundred TOML files take too long to read."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

from firstcause.catalog.toml import HERE
from firstcause.errors import KnowledgeError

KINDS = ("causes", "patterns", "defects", "excuses", "red_flags", "misbeliefs")
COMPILE = "python -m firstcause.catalog.compile"


@functools.cache
def indexed(kind: str) -> dict[str, dict[str, Any]]:
    """The entries of a kind by slug, as plain values; raises ``KnowledgeError`` where the index cannot be used."""
    path = os.path.join(HERE, kind + ".json")
    try:
        with open(path, encoding="utf-8") as file:
            plain: dict[str, dict[str, Any]] = json.load(file)
    except (OSError, ValueError) as error:
        raise KnowledgeError("catalogue-unreadable", f"{path}: {error}", COMPILE) from error
    return plain
