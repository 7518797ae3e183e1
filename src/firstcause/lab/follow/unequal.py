"""Two runs of one command: the first step and op at which they part, and the source of chance that parts them; no torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.lab.follow.asked import Followed, Row, copy, python_of

SOURCES = ("python", "numpy", "torch", "generators", "clock", "hash")
# What these give holds whatever lay there before.
BLANK = ("empty", "new_empty")
WORDS = {
    "python": "Python's `random` is not seeded",
    "numpy": "NumPy's global generator is not seeded",
    "torch": "torch's global generator is not seeded",
    "generators": "a generator is made without a seed, or one is seeded from the system's entropy",
    "clock": "the clock is read",
    "hash": "the order of a set or the hash of a text is used, which Python draws anew for each process",
}


@dataclass(frozen=True)
class Determinism:
    """``step`` and ``part`` are where two runs part; ``op`` the first op that gives something else, with its line."""

    why: str = ""
    steps: int = 0
    step: int | None = None
    part: str = ""
    op: list[Any] | None = None
    sources: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.why and self.step is None


def check(folder: str, command: Sequence[str], seconds: float) -> Determinism:
    """Run a command twice in fresh processes, compare step by step, and hold one source of chance still at a time."""
    command = python_of(command)

    def runs(count: int, **settings: Any) -> list[Followed]:
        found = []
        for _ in range(count):
            with copy(folder) as place:
                found.append(place.follow(command, seconds, **settings))
        return found

    one, other = runs(2)
    if one.code != 0 or not one.rows:
        return Determinism(
            f"the command ended with code {one.code} after {len(one.rows)} steps: {one.said[:200]}"
        )
    at = parted(one, other)
    if at is None:
        return Determinism(steps=len(one.rows))
    number, part = at
    traced = runs(2, ops=number)
    op = first_op(traced[0], traced[1])
    held = [s for s in SOURCES if _later(runs(2, seeds=[s]), number)]
    if not held and _later(runs(2, seeds=list(SOURCES)), number):
        held = list(SOURCES)
    return Determinism("", len(one.rows), number, part, op, tuple(held))


def parted(one: Followed, other: Followed) -> tuple[int, str] | None:
    """The first step whose weights, batch or gradients differ, and which of them; None where all are equal."""
    for number, (a, b) in enumerate(zip(one.rows, other.rows, strict=False)):
        part = _part(a, b)
        if part:
            return number, part
    if len(one.rows) != len(other.rows):
        return min(len(one.rows), len(other.rows)), "number of steps"
    return None


def _part(one: Row, other: Row) -> str:
    for key, words in (
        ("params", "weights"),
        ("buffers", "buffers"),
        ("batch", "batch"),
        ("gradients", "gradients"),
    ):
        if one[key] != other[key]:
            return words
    return ""


def first_op(one: Followed, other: Followed) -> list[Any] | None:
    """The first op of two traces that is another one, or gives something else; memory that nothing was written to aside."""
    blank: set[str] = set()
    for a, b in zip(one.ops, other.ops, strict=False):
        if a[0].startswith(BLANK) or a[3] in blank:
            blank.add(a[2])
        elif a[0] != b[0] or a[2] != b[2]:
            return a
    return None


def _later(runs: list[Followed], number: int) -> bool:
    """Whether two runs agree beyond a step."""
    at = parted(runs[0], runs[1])
    return len(runs[0].rows) > number and (at is None or at[0] > number)
