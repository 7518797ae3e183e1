"""The catalogue's table of arguments: which call's argument sets which key of the instructions."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from firstcause.catalog.toml import check_table


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


@dataclass(frozen=True)
class Default:
    """What calls do where they leave an argument out.

    Silent where an argument of ``unless`` is given, or where the code names the thing by one of ``words`` (the argument
    itself, where there are none); ``several`` says that more than one such call may stand in a program.
    """

    calls: tuple[str, ...]
    argument: str
    key: str
    value: Any
    position: int | None
    unless: tuple[str, ...]
    words: tuple[str, ...]
    several: bool


@functools.cache
def defaults() -> tuple[Default, ...]:
    """The defaults of the table; raises ``KnowledgeError`` where the file cannot be read."""
    return tuple(
        Default(
            tuple(one["calls"]),
            one["argument"],
            one["key"],
            one["value"],
            one.get("position"),
            tuple(one.get("unless", ())),
            tuple(one.get("words", ())),
            one.get("several", False),
        )
        for one in check_table("facts")["default"]
    )


@functools.cache
def generation() -> dict[str, str]:
    """The arguments of ``generate`` and of pipelines by the keys that they set."""
    return dict(check_table("facts")["generation"])


@functools.cache
def families() -> tuple[Family, ...]:
    """Every family of the table; raises ``KnowledgeError`` where the file cannot be read."""
    table = check_table("facts")
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
