"""A command with its components switched off, one at a time, each run in a fresh copy of its folder; no torch here."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.errors import RecordError
from firstcause.lab import beginning
from firstcause.lab.follow.asked import python_of
from firstcause.lab.without import COMPONENTS, MET, WITHOUT
from firstcause.record.folder import RunFolder
from firstcause.sandbox import bounded
from firstcause.sandbox.confine import command_for
from firstcause.sandbox.program_copy import copy_of

BEGIN = "firstcause.lab.without.program:begin"
# An arm without a compilation or with fewer processes is faster; one without workers is slower.
SLOWER, SLACK = 4.0, 20.0
# Growth: at least so many bytes a step, and in all, over the last half of the steps, at most samples of the record.
GROWS, RISES, LEAST_STEPS = 2_000.0, 3_000_000, 20
# Without the component that carries it, memory grows by less than this part of what it grew.
REMAINS = 0.25


@dataclass(frozen=True)
class Seen:
    """What one run showed: its symptom in words (empty where there was none), its kind, steps, and growth in bytes a step."""

    kind: str = ""
    symptom: str = ""
    steps: int = 0
    growth: float = 0.0
    seconds: float = 0.0
    why: str = ""


@dataclass(frozen=True)
class Arm:
    """A component at a level, what was seen with it, and whether the symptom of the run as it is was gone."""

    component: str
    level: str
    seen: Seen
    gone: bool


@dataclass(frozen=True)
class Bisection:
    """The run as it is, the components that it uses, an arm for each level that was tried; ``why`` where there is no answer."""

    seen: Seen
    used: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()
    why: str = ""

    @property
    def carriers(self) -> tuple[str, ...]:
        """The components without which the symptom is gone."""
        return tuple(a.component for a in self.arms if a.gone and a.level == "off" and a.component != "all")


def bisect(folder: str, command: Sequence[str], seconds: float) -> Bisection:
    """Run a command as it is, then without each component that it uses, within ``seconds`` in all.

    Raises ``InputError`` where the folder is too large to be copied.
    """
    end = time.monotonic() + seconds
    command = python_of(command)
    seen, used = _run(folder, command, {}, seconds)
    if not seen.kind:
        why = seen.why or "the run as it is shows no exception, nothing that is not finite, and no growth"
        return Bisection(seen, used, why=why)
    if not used:
        return Bisection(seen, why="the run uses none of the components that can be switched off")
    arms: list[Arm] = []
    for component, level in _plan(used, arms):
        left = min(end - time.monotonic(), SLOWER * seen.seconds + SLACK)
        if left < 1:
            arms.append(Arm(component, level, Seen(why="no time was left for it"), False))
            continue
        levels = dict.fromkeys(used, "off") if component == "all" else {component: level}
        other, _ = _run(folder, command, levels, left)
        arms.append(Arm(component, level, other, gone(seen, other)))
    return Bisection(seen, used, tuple(arms))


def _plan(used: Sequence[str], arms: Sequence[Arm]) -> Iterator[tuple[str, str]]:
    """Each component off; further levels of one only where the symptom is gone without it; all off where none carries it."""
    for name in used:
        levels = COMPONENTS[name][1]
        yield name, levels[0]
        if arms[-1].gone:
            yield from ((name, level) for level in levels[1:])
    if len(used) > 1 and not any(a.gone for a in arms):
        yield "all", "off"


def gone(before: Seen, after: Seen) -> bool:
    """Whether a run without a component shows the symptom no more, and came at least as far as the one that failed.

    Another failure instead of it is no answer: the program may not work without the component.
    """
    if after.why or after.kind not in ("", "growth"):
        return False
    if before.kind == "growth":
        return after.steps >= before.steps // 2 and after.growth < REMAINS * before.growth
    return after.steps >= before.steps


def _run(
    folder: str, command: Sequence[str], levels: dict[str, str], seconds: float
) -> tuple[Seen, tuple[str, ...]]:
    """One recorded run in a confined copy; what it showed, and which components it met."""
    with tempfile.TemporaryDirectory(prefix="firstcause-without-", ignore_cleanup_errors=True) as made:
        scratch = os.path.realpath(made)
        copy, record, met = (os.path.join(scratch, n) for n in ("copy", "run", "met"))
        copy_of(folder, copy)
        os.makedirs(met)
        environment = beginning.environment(BEGIN) | {WITHOUT: json.dumps(levels), MET: met, "PWD": copy}
        observed = [sys.executable, "-m", "firstcause", "run", "-q", "-o", record, *command]
        begun = time.monotonic()
        code, _ = bounded.run(command_for(scratch, observed), copy, seconds, environment)
        took = time.monotonic() - begun
        used = tuple(name for name in COMPONENTS if os.path.exists(os.path.join(met, name)))
        return _seen(record, took, code is not None), used


def _seen(record: str, seconds: float, in_time: bool) -> Seen:
    folder = RunFolder(record)
    try:
        run, readings = folder.run(), list(folder.journals().values())
    except RecordError as error:
        return Seen(seconds=seconds, why=f"it left no record: {error.message}")
    rows = max((r.rows for r in readings), key=len, default=())
    steps = rows[-1].step + 1 if rows else 0
    events = max((r.events for r in readings), key=len, default=())
    growth = grown([e for e in events if e.get("event") == "memory"])
    first = next((s for s in run.symptoms if in_time or s.kind != "signal"), None)
    if first is not None:
        said = first.message.strip().splitlines()[0]
        return Seen(first.kind, said, steps if first.step is None else first.step, growth, seconds)
    if not in_time:
        return Seen("", "", steps, growth, seconds, f"it did not end within {seconds:.0f} s")
    if growth:
        return Seen("growth", f"memory grows by {growth / 1e3:.0f} kB a step", steps, growth, seconds)
    return Seen("", "", steps, growth, seconds)


def grown(samples: Sequence[dict[str, Any]]) -> float:
    """Resident bytes a step over the last half of the steps, where they rise without a rest; else 0."""
    if not samples or samples[-1]["step"] < LEAST_STEPS:
        return 0.0
    tail = [s for s in samples if s["step"] >= samples[-1]["step"] // 2]
    sizes = [s["resident"] for s in tail]
    risen, steps = sizes[-1] - sizes[0], tail[-1]["step"] - tail[0]["step"]
    if len(tail) < 3 or risen < RISES or risen / steps < GROWS:
        return 0.0
    middle = len(tail) // 2
    halves = (sizes[middle] - sizes[0], sizes[-1] - sizes[middle])
    return risen / steps if min(halves) > 0.2 * risen else 0.0
