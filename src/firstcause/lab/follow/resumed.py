"""A straight run beside one that was broken off, saved and resumed: which parts of the state did not come back; no torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firstcause.lab.follow.asked import Followed, Row, copy, python_of
from firstcause.lab.follow.batches import COMPARED, only_start

# The causal order: what stands earlier explains what stands later.
CAUSES = {
    "optimizer": "optimizer-state-not-restored",
    "scheduler": "scheduler-state-not-restored",
    "generators": "rng-state-not-restored",
    "average": "ema-state-not-restored",
    "counter": "step-counter-not-restored",
    "position": "step-counter-not-restored",
}
LEAST_STEPS = 2


@dataclass(frozen=True)
class Missing:
    """One part: its kind, its name, what it was in the straight run and what it is after the resume."""

    kind: str
    name: str
    straight: Any
    resumed: Any

    @property
    def cause(self) -> str | None:
        return CAUSES.get(self.kind)


@dataclass(frozen=True)
class Resumption:
    """What a resume check found. ``why`` says why nothing could be said; ``equal`` how many steps were bitwise equal."""

    why: str = ""
    steps: int = 0
    saved_at: int = 0
    control: bool = True
    equal: int = 0
    compared: int = 0
    missing: tuple[Missing, ...] = ()


def check(
    folder: str, command: Sequence[str], more: Sequence[str], seconds: float, at: int | None = None
) -> Resumption:
    """Run a command straight twice, then broken off after a save and once more with ``more`` words; compare step by step.

    ``at`` is the number of steps after which it is broken off; by default the save that lies next to the middle.
    """
    command = python_of(command)
    straight = []
    for _ in range(2):
        with copy(folder) as place:
            straight.append(place.follow(command, seconds))
    first, second = straight
    why = _unusable(first)
    if why:
        return Resumption(why)
    control = list(map(_compared, first.rows)) == list(map(_compared, second.rows))
    steps = len(first.rows)
    usable = [s for s in first.saves if LEAST_STEPS <= s <= steps - LEAST_STEPS]
    saved = at if at is not None else min(usable, key=lambda s: abs(2 * s - steps), default=0)
    if not saved:
        return Resumption(
            f"no file was saved between step {LEAST_STEPS} and step {steps - LEAST_STEPS} of {steps}", steps
        )
    with copy(folder) as place:
        broken = place.follow(command, seconds, stop=saved)
        if len(broken.rows) != saved:
            return Resumption(
                f"the run that was to be broken off after step {saved} took {len(broken.rows)} steps",
                steps,
                saved,
            )
        again = place.follow([*command, *more], seconds)
    return compare(first, again, saved, control)


def _unusable(run: Followed) -> str:
    if run.code is None:
        return "the command did not end in the time that it was given"
    if run.code != 0 or not run.rows:
        return f"the command ended with code {run.code} after {len(run.rows)} steps: {run.said[:200]}"
    return ""


def compare(straight: Followed, again: Followed, saved: int, control: bool) -> Resumption:
    """What differs from the first step after the resume on, the causes before their consequences."""
    steps = len(straight.rows)
    if not again.rows:
        why = f"the resumed command took no step, and ended with code {again.code}: {again.said[:200]}"
        return Resumption(why, steps, saved, control)
    if again.rows[0]["params"] == straight.rows[0]["params"]:
        why = f"the resumed run begins with the weights of step 0 again: it loaded nothing that was saved at step {saved}"
        return Resumption(why, steps, saved, control)
    starts = [n for n, r in enumerate(straight.rows) if r["params"] == again.rows[0]["params"]]
    if not starts:
        if not control:
            return _by_state(straight, again, saved, steps)
        why = f"the weights after the resume are those of no step of the straight run; it was saved at step {saved}"
        return Resumption(why, steps, saved, control)
    own = list(zip(straight.rows[starts[0] :], again.rows, strict=False))
    equal = next((n for n, (a, b) in enumerate(own) if _compared(a) != _compared(b)), len(own))
    missing = tuple(_missing(own, len(straight.rows) - starts[0], len(again.rows), _moved(straight, again)))
    return Resumption("", steps, starts[0], control, equal, len(own), missing)


def _by_state(straight: Followed, again: Followed, saved: int, steps: int) -> Resumption:
    """Where two straight runs differ already, only whether each part is there at all can be said."""
    if saved >= steps:
        return Resumption("two straight runs differ, and none went beyond the save", steps, saved, False)
    one, other = straight.rows[saved], again.rows[0]
    missing = [
        Missing(_kind(k), k, one[k], other.get(k))
        for k in one
        if _kind(k) in ("optimizer", "scheduler", "counter")
        and _is_start(straight.rows[0], k, other)
        and one[k] != other.get(k)
    ]
    return Resumption("", steps, saved, False, 0, 1, tuple(missing))


def _is_start(first: Row, key: str, now: Row) -> bool:
    return first.get(key) == now.get(key)


def _kind(key: str) -> str:
    return key.partition(" ")[0]


def _compared(row: Row) -> tuple[Any, ...]:
    return row["params"], row["batch"], row["gradients"], row["lr"]


def _moved(straight: Followed, again: Followed) -> bool:
    """Whether the batches after the resume are, in their order, those of another place of the straight run."""
    there, here = ([str(r["batch"]) for r in rows] for rows in (straight.rows, again.rows[:COMPARED]))
    return only_start(there, here) is not None


def _missing(own: list[tuple[Row, Row]], left: int, taken: int, moved: bool) -> list[Missing]:
    one, other = own[0]
    found = []
    for key in one:
        if _kind(key) in ("optimizer", "scheduler", "scaler", "average", "counter") and one[key] != other.get(
            key
        ):
            found.append(Missing(_kind(key), key, one[key], other.get(key)))
    found = [
        m
        for m in found
        if m.kind != "counter" or m.resumed == 0 or (isinstance(m.resumed, int) and m.resumed < m.straight)
    ]
    # What stays as it is from step to step is a copy that somebody holds, and no average.
    found = [m for m in found if m.kind != "average" or len({a.get(m.name) for a, _ in own}) > 1]
    given = any(a["batch"] != b["batch"] for a, b in own)
    # Before anything else has had an effect, other numbers show in the gradients of the same batch.
    drawn = one["gradients"] != other["gradients"] and one["params"] == other["params"]
    generators = [n for n in one["generators"] if one["generators"][n] != other["generators"].get(n)]
    moving = [n for n in generators if len({a["generators"].get(n) for a, _ in own}) > 1]
    if moving and (given or drawn) and not (given and moved):
        found += [Missing("generators", n, one["generators"][n], other["generators"].get(n)) for n in moving]
    elif given or left != taken:
        found.append(Missing("position", "the position in the data", left, taken))
    if not found and one["lr"] != other["lr"]:
        found.append(Missing("counter", "the learning rate", one["lr"], other["lr"]))
    return found
