"""The learning-rate schedules of a program: their calls, what they were made for, and their optimizer. Sealed child only."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import lr_scheduler

from firstcause.lab import places

# A plateau is measured, not counted; a cycle has no end.
UNCOUNTED = ("ReduceLROnPlateau", "CyclicLR", "CosineAnnealingWarmRestarts")
# How a schedule says after how many calls it is over.
MOST_CALLS = 20_000
ENDS = ("total_steps", "T_max", "total_iters", "step_size")


class Schedules:
    """Calls ``asked`` before each step that the program takes of a schedule; False leaves the step out."""

    def __init__(self, asked: Callable[[Any, dict[str, Any] | None], bool]) -> None:
        self.asked = asked
        self.plain: dict[type, Any] = {}
        self._depth = 0
        for kind in {k for k in vars(lr_scheduler).values() if isinstance(k, type)}:
            if issubclass(kind, lr_scheduler.LRScheduler) and "step" in vars(kind):
                self._follow(kind)

    def _follow(self, kind: Any) -> None:
        step = self.plain[kind] = kind.step

        def followed(schedule: Any, *args: Any, **kwargs: Any) -> Any:
            # A schedule takes its first step itself, while it is made; one that is made of others steps them.
            inner = self._depth or getattr(schedule, "_is_initial", False)
            if not inner and not self.asked(schedule, places.of_frame(sys._getframe(1))):
                return None
            self._depth += 1
            try:
                return step(schedule, *args, **kwargs)
            finally:
                self._depth -= 1

        kind.step = followed

    def step(self, schedule: Any) -> None:
        """One step of a schedule, unasked."""
        self._depth += 1
        try:
            type(schedule).step(schedule)
        finally:
            self._depth -= 1


def living() -> list[Any]:
    """The counted schedules that live now, without those that are parts of another one."""
    found = [
        one
        for one in gc.get_objects()
        if issubclass(type(one), lr_scheduler.LRScheduler) and hasattr(one, "optimizer")
    ]
    parts = {id(part) for one in found for part in getattr(one, "_schedulers", ())}
    return [one for one in found if id(one) not in parts and type(one).__name__ not in UNCOUNTED]


def end_of(schedule: Any) -> int | None:
    """After how many calls a schedule is over, or takes its first drop; None where it does not say."""
    inner = getattr(schedule, "_schedulers", None)
    marks = getattr(schedule, "_milestones", None) or list(getattr(schedule, "milestones", None) or ())
    if inner:
        last = end_of(inner[-1])
        return last + marks[-1] if last is not None and marks else last
    if marks:
        return int(max(marks))
    if type(schedule).__name__ == "LambdaLR":
        return _end_of_factor(schedule.lr_lambdas[0])
    found = next((v for n in ENDS if isinstance(v := getattr(schedule, n, None), (int, float))), None)
    return int(found) if found is not None else None


def _end_of_factor(factor: Callable[[int], float]) -> int | None:
    """The first call at which a factor has fallen to a hundredth of its largest value."""
    top = 0.0
    try:
        for call in range(MOST_CALLS):
            value = abs(float(factor(call)))
            if top and value <= top / 100:
                return call
            top = max(top, value)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # A function of its own that knows no call as late as that.
        return None
    return None


def rate_of(optimizer: torch.optim.Optimizer) -> float:
    """The learning rate of the first group."""
    return float(optimizer.param_groups[0]["lr"])
