"""The catalogue's names of deviations and assumptions, by key."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from firstcause.catalog.toml import check_table


@dataclass(frozen=True)
class Names:
    """``deviation`` and ``assumed`` give slugs by key; ``material`` are the keys whose unasked values are assumptions."""

    deviation: dict[str, str]
    critical: frozenset[str]
    assumed: dict[str, str]
    material: tuple[str, ...]
    settled_by: dict[str, list[str]]


@functools.cache
def names() -> Names:
    """The table; raises ``KnowledgeError`` where the file cannot be read."""
    table = check_table("compliance")
    material = table["material"]
    return Names(
        table["deviation"],
        frozenset(table["critical"]["keys"]),
        table["assumed"],
        tuple(material["keys"]),
        material["settled_by"],
    )


def assumption(key: str) -> str:
    """The slug of an assumption about a key."""
    return names().assumed.get(key, f"assumed-{key.replace('_', '-')}")
