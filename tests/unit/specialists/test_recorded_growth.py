"""Whether the memory that a record holds is looked into first: what goes on growing, however much libraries take beside it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from firstcause.record.journal import Reading
from firstcause.specialists.examination import Examination
from firstcause.specialists.growth import is_recorded

MIB = 1 << 20


def recorded(mib: list[float]) -> bool:
    events = tuple({"event": "memory", "step": i, "resident": int(m * MIB)} for i, m in enumerate(mib))
    folder = SimpleNamespace(journals=lambda: {"rank-0": Reading((), events, 0)})
    return is_recorded(cast(Examination, SimpleNamespace(folder=folder)))


def test_a_pile_beside_large_libraries_is_looked_into() -> None:
    assert recorded([4000 + 2 * i for i in range(30)])


def test_what_has_come_to_its_end_is_not() -> None:
    assert not recorded([300 + 10 * min(i, 20) for i in range(40)])


def test_what_is_small_or_short_is_not() -> None:
    assert not recorded([300 + 0.1 * i for i in range(40)])
    assert not recorded([300, 400, 500, 600])
