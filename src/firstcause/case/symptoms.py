"""The symptoms of a case: the worst first, which of them are one, and what became of each after a fix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from firstcause.case.verification import Verification
from firstcause.schema import Symptom, from_plain

# What ends a program stands before what spoils its result, and that before what only disappoints.
CRITICALITY = (
    "signal",
    "exception",
    "exit-code",
    "nan",
    "divergence",
    "invariant",
    "no-learning",
    "expectation",
)
# A second run tells these by itself; the others are found by a diagnosis only.
SEEN = ("signal", "exception", "exit-code", "nan", "expectation")

# What only the figures of a training show: which of these a run is found to have depends on what is measured.
SILENT = ("divergence", "no-learning", "invariant", "expectation")

Outcome = Literal["open", "gone", "unchanged", "new", "untested"]


@dataclass(frozen=True)
class Tracked:
    """A symptom of a case, what the last verified fix left of it, and when that was seen."""

    symptom: Symptom
    outcome: Outcome = "open"
    time: str = ""


def ordered(symptoms: Iterable[Symptom]) -> tuple[Symptom, ...]:
    """The symptoms by criticality, earlier steps first within one kind; one that is said twice stands once."""
    result: list[Symptom] = []
    for symptom in sorted(symptoms, key=criticality):
        if not any(same(symptom, other) for other in result):
            result.append(symptom)
    return tuple(result)


def criticality(symptom: Symptom) -> tuple[int, float, int]:
    """What symptoms are sorted by, the worst first."""
    step = float("inf") if symptom.step is None else float(symptom.step)
    return CRITICALITY.index(symptom.kind), step, symptom.rank


def same(one: Symptom, other: Symptom) -> bool:
    """Whether two are one symptom, seen twice: of one kind, and one error, one line or one expectation.

    Numbers, steps and line numbers do not count: a fix moves lines, and a symptom that comes later is no other.
    """
    if one.kind != other.kind:
        return False
    if one.kind == "expectation":
        return one.message.partition(" was expected")[0] == other.message.partition(" was expected")[0]
    if one.kind != "exception":
        return True
    if one.message.partition(":")[0] != other.message.partition(":")[0]:
        return False
    if one.site is None or other.site is None:
        return one.site is other.site
    return (one.site.file, one.site.function, one.site.text.strip()) == (
        other.site.file,
        other.site.function,
        other.site.text.strip(),
    )


def alike(told: Symptom, seen: Symptom) -> bool:
    """Whether a run may show what a text told of: one kind, and for an error its type and its first line.

    Numbers do not count, nor where it was raised: a text names files as they lay on another machine.
    """
    if told.kind in SILENT and seen.kind in SILENT:
        return True
    if told.kind != seen.kind:
        return False
    return told.kind != "exception" or _plain(told.message) == _plain(seen.message)


def _plain(message: str) -> tuple[str, str]:
    first, _, rest = message.strip().partition("\n")[0].partition(":")
    return first.rsplit(".", 1)[-1], " ".join(re.sub(r"\d+", "#", rest).split())


def retested(
    tracked: Sequence[Tracked], worked_on: Symptom | None, verification: Verification
) -> tuple[bool, tuple[tuple[Symptom, Outcome], ...]]:
    """Whether a fix for ``worked_on`` passed, and what the second run showed of each symptom.

    It passed where its own symptom is gone and what is left was there before, or lies beyond the step at which
    the program failed: an error in its place, or before it, would be one failure for another.
    """
    known = [t.symptom for t in tracked if t.outcome != "gone"]
    if worked_on is not None and not any(same(worked_on, s) for s in known):
        known = [worked_on, *known]
    observed = _observed(verification)
    again = [s for s in known if any(same(s, o) for o in observed)]
    new = [o for o in observed if not any(same(o, s) for s in known)]
    passed = verification.passed
    if not passed and observed and worked_on is not None and worked_on not in again:
        passed = _reached(worked_on, verification) and all(_beyond(o, worked_on) for o in new)
    outcomes: list[tuple[Symptom, Outcome]] = []
    for symptom in known:
        if symptom in again:
            outcomes.append((symptom, "unchanged"))
        elif worked_on is not None and same(symptom, worked_on):
            outcomes.append((symptom, "gone" if passed or observed else "unchanged"))
        else:
            outcomes.append((symptom, "gone" if _reached(symptom, verification) else "untested"))
    return passed, (*outcomes, *((symptom, "new") for symptom in ordered(new)))


def _beyond(symptom: Symptom, failed: Symptom) -> bool:
    return symptom.step is not None and failed.step is not None and symptom.step > failed.step


def _observed(verification: Verification) -> list[Symptom]:
    plain = verification.values.get("observed")
    return [from_plain(Symptom, one) for one in plain] if isinstance(plain, list) else []


def _reached(symptom: Symptom, verification: Verification) -> bool:
    """Whether the second run came to where the symptom would have shown."""
    if symptom.kind not in SEEN:
        return False
    if verification.values.get("exit_code", 0 if verification.passed else None) == 0:
        return True
    steps = verification.values.get("steps")
    return symptom.step is not None and isinstance(steps, int) and steps > symptom.step + 1
