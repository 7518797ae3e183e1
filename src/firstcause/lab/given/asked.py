"""The failing step's inputs compared with those of other steps, each side read in a sealed process of its own; no torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.lab.sealed import Ended, failing_step, run_sealed, unsaved
from firstcause.record.folder import RunFolder

FAILING, OTHERS = "firstcause.lab.given.steps:Failing", "firstcause.lab.given.steps:Others"
# Fewer steps than this say nothing of what is usual.
LEAST = 5
# By how much of what the others differ among themselves a number has to lie outside of them.
OUTSIDE = 0.05

Row = dict[str, float]


@dataclass(frozen=True)
class Apart:
    """A property in which the failing step lies outside of all others: its number, and the least and the largest of theirs."""

    name: str
    value: float
    least: float
    largest: float

    @property
    def distance(self) -> float:
        """How far outside, in units of the others' own spread."""
        gap = self.least - self.value if self.value < self.least else self.value - self.largest
        spread = self.largest - self.least
        return gap / spread if spread else float("inf")


@dataclass(frozen=True)
class Compared:
    """How many other steps there were, what sets the failing ones apart, and how many of these there were."""

    others: int = 0
    apart: tuple[Apart, ...] = ()
    failing: int = 1
    why: str = ""


def compare(folder: RunFolder, failure: dict[str, Any], steps: int, seconds: float) -> Compared:
    """Compare the kept failing step with the first ``steps`` others that the program takes when it is started again."""
    unit = failure.get("unit")
    if unsaved(failure) or not unit:
        return Compared(why=unsaved(failure) or "the failure lies in no loop that is known")
    try:
        own = run_sealed(
            folder, failing_step(folder, failure) | {"FIRSTCAUSE_DEEP": FAILING}, {}, seconds / 2
        )
        key = _unit_of(folder, failure)
        arms = [{"name": "as it ran", "change": "control", "settings": {"unit": key}}]
        plan = {"from": "start", "steps": steps, "after": 0, "arms": arms}
        plan |= {"seconds": seconds / 2, "arm_seconds": seconds / 2}
        other = run_sealed(folder, {"FIRSTCAUSE_DEEP": OTHERS}, {"FIRSTCAUSE_ARMS": plan}, seconds / 2)
    except OSError as error:
        return Compared(why=f"the fresh process could not be started: {error}")
    failing = ((_facts(own).get("trace") or {}).get("rows") or [])[-1:]
    seen = _facts(other)
    others = seen.get("rows") or []
    if not failing or len(others) < LEAST:
        lacking = own if not failing else other
        return Compared(len(others), why=f"{len(others)} other steps were seen; {lacking.said}")
    failing += seen.get("failing") or []
    return Compared(len(others), tuple(set_apart(failing, others)), len(failing))


def set_apart(failing: Sequence[Row], others: Sequence[Row]) -> list[Apart]:
    """The properties in which every failing step lies outside of all others, the farthest first.

    The number is that of the first one.
    """
    found = []
    for name, value in failing[0].items():
        theirs = [row[name] for row in others if name in row]
        if len(theirs) < LEAST:
            continue
        every = [Apart(name, row.get(name, value), min(theirs), max(theirs)) for row in failing]
        if all(not a.least <= a.value <= a.largest and a.distance > OUTSIDE for a in every):
            found.append(every[0])
    return sorted(found, key=lambda a: -a.distance)


def _unit_of(folder: RunFolder, failure: dict[str, Any]) -> Any:
    structure = folder.read_json(failure["snapshot"], "state.json")
    return (structure or {}).get("unit")


def _facts(ended: Ended) -> dict[str, Any]:
    return next(ended.results, {})
