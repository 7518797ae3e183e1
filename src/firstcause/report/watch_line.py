"""Where each process of a run that is going stands, a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firstcause.report.plain import one_line
from firstcause.report.spans import span

# So many steps are told of before the time that is left is.
_SURE = 3
_FIGURES = (("loss", "loss"), ("grad_norm", "gradient norm"), ("lr", "learning rate"))


@dataclass(frozen=True)
class Seen:
    """The last row of a process: its name, the step (-1: none yet), the figures by column."""

    name: str
    step: int
    figures: Mapping[str, float]
    # Steps that it is to take in all, 0 where that is not known, and seconds of a step in the middle of the last ones.
    steps: int = 0
    pace: float = 0.0


def watch_lines(seen: Sequence[Seen]) -> list[str]:
    """One line a process; one says that nothing was seen yet."""
    if not seen:
        return ["no process has been seen yet"]
    return [_line(one) for one in seen]


def _line(one: Seen) -> str:
    name = one_line(one.name)
    if one.step < 0:
        return f"{name}: no step yet"
    parts = [f"step {one.step}"]
    parts += [f"{label} {one.figures[key]:.4g}" for key, label in _FIGURES if key in one.figures]
    seconds = one.figures.get("seconds", 0.0)
    parts += [f"{seconds:.3g} s a step"] if seconds > 0 else []
    left = one.steps - one.step - 1
    if left > 0 and one.step >= _SURE and one.pace > 0:
        parts.append(f"{span(left * one.pace)} left to step {one.steps}")
    return f"{name}: " + " · ".join(parts)
