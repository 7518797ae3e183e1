"""A scenario: what a user says, under which pressure, and by what its end is judged."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from firstcause.catalog.toml import read
from firstcause.schema import from_plain

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Scenario:
    """One scenario.

    ``must`` and ``must_not`` are for readers, and go into the export. What decides is what can be checked: ``area``, the
    specialists in their order; ``asks``, a question or the text of the error; ``looks``, a regular expression for each
    thing that is to be looked at; ``never``, moves of ``moves.toml``; and for a ``fixture`` the files at the end.
    ``control`` marks a scenario where resistance is what fails, and ``accepts`` what a right suggestion holds.
    """

    id: str
    group: str
    says: str
    pressures: tuple[str, ...]
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    area: tuple[str, ...] = ()
    asks: str = ""
    looks: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    fixture: str = ""
    control: str = ""
    accepts: tuple[str, ...] = ()


@functools.cache
def scenarios() -> dict[str, Scenario]:
    """The bank and the controls, by id."""
    found: dict[str, Scenario] = {}
    for path in sorted((HERE / "scenarios").glob("*.toml")):
        for name, entry in read(str(path)).items():
            found[name] = from_plain(Scenario, {"id": name, "group": path.stem, **entry}, name)
    return found


def bank() -> list[Scenario]:
    """The scenarios without the controls."""
    return [one for one in scenarios().values() if not one.control]
