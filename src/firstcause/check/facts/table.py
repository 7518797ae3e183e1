"""The catalogue's table of arguments: which call's argument sets which key of the instructions."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Any

from firstcause.catalog.load import CAUSES, read

_TABLE = os.path.join(os.path.dirname(CAUSES), "check", "facts.toml")


@dataclass(frozen=True)
class Family:
    """Calls whose arguments mean the same; ``framework`` is what a program that makes them runs on, or empty."""

    name: str
    calls: tuple[str, ...]
    framework: str
    positions: tuple[str, ...]
    arguments: dict[str, str]

    def position(self, argument: str) -> int | None:
        return self.positions.index(argument) if argument in self.positions else None


@functools.cache
def families() -> tuple[Family, ...]:
    """Every family of the table; raises ``KnowledgeError`` where the file cannot be read."""
    table = read(_TABLE)
    shared: dict[str, Any] = table["shared"]
    return tuple(
        Family(
            one["name"],
            tuple(one["calls"]),
            one.get("framework", ""),
            tuple(one.get("positions", ())),
            {**(shared["arguments"] if one["name"] in shared["of"] else {}), **one.get("arguments", {})},
        )
        for one in table["family"]
    )
