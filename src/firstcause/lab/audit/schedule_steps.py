"""When schedules are stepped, beside the optimizer's steps and the passes over the data, and what becomes of the rate."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass, field
from typing import Any

import torch

from firstcause.lab.audit import Watcher
from firstcause.lab.schedule_shapes import shape_of
from firstcause.lab.schedules import Schedules, end_of, living, rate_of

# A hundredth, and the rounding of many products.
LOW = 0.01 * (1 + 1e-9)


@dataclass
class Course:
    """One schedule: at how many steps of its optimizer each call came, and the rates it found and left."""

    schedule: Any
    site: dict[str, Any] | None = None
    at: list[int] = field(default_factory=list)
    rates: list[tuple[float, float]] = field(default_factory=list)
    # A scaler that leaves the first step out was asked for it: then the order was right.
    early: bool = False


class Watch(Watcher):
    """An epoch is what a loader is asked for its batches, or a pass of a loop around the steps."""

    def start(self) -> None:
        self.courses: dict[int, Course] = {}
        self.steps: dict[int, int] = {}
        self.pending: Course | None = None
        self.passes: dict[int, list[int]] = {}
        self.total = self.scaled = 0
        self.lengths: list[int] = []
        self.schedules = Schedules(self._asked)
        self._follow_marks()
        self._follow_loaders()
        self._follow_scaler()

    def _follow_scaler(self) -> None:
        scaler: Any = torch.amp.GradScaler
        step = scaler.step

        def stepped(one: Any, *args: Any, **kwargs: Any) -> Any:
            self.scaled += 1
            return step(one, *args, **kwargs)

        scaler.step = stepped

    def _follow_marks(self) -> None:
        mark = self.recorder.mark

        def marked(k: int, values: Any, frame: Any) -> Any:
            self.passes.setdefault(k, []).append(self.total)
            return mark(k, values, frame)

        self.recorder.__dict__["mark"] = marked

    def _follow_loaders(self) -> None:
        loader: Any = torch.utils.data.DataLoader
        iterate = loader.__iter__

        def begun(one: Any) -> Any:
            if torch.is_grad_enabled() and hasattr(one.dataset, "__len__"):
                self.lengths.append(len(one))
            return iterate(one)

        loader.__iter__ = begun

    def _asked(self, schedule: Any, site: dict[str, Any] | None) -> bool:
        self._close()
        course = self.courses.setdefault(id(schedule), Course(schedule, site))
        steps = self.steps.get(id(schedule.optimizer), 0)
        course.early = course.early or (not course.at and not steps and not self.scaled)
        course.at.append(steps)
        course.rates.append((rate_of(schedule.optimizer), 0.0))
        self.pending = course
        return True

    def _close(self) -> None:
        """The rate that the last call has left."""
        if self.pending is not None:
            course, self.pending = self.pending, None
            course.rates[-1] = (course.rates[-1][0], rate_of(course.schedule.optimizer))

    def before_step(self, optimizer: torch.optim.Optimizer) -> None:
        self._close()

    def after_step(self, optimizer: torch.optim.Optimizer) -> None:
        self.steps[id(optimizer)] = self.steps.get(id(optimizer), 0) + 1
        self.total += 1

    def facts(self) -> dict[str, Any]:
        self._close()
        for one in living():
            self.courses.setdefault(id(one), Course(one))
        return {"schedules": [self._told(c) for c in self.courses.values()]}

    def _told(self, course: Course) -> dict[str, Any]:
        shape, base = shape_of(course.schedule), (getattr(course.schedule, "base_lrs", None) or [0.0])[0]
        rates = [r for r, _ in course.rates[:1]] + [r for _, r in course.rates]
        top = max(rates, default=0.0)
        # The first call from which on the rate stays below a hundredth of its largest value.
        low = next((i for i in range(len(rates)) if all(r <= LOW * top for r in rates[i:])), None)
        return {
            "class": type(course.schedule).__name__,
            "site": course.site,
            "calls": len(course.at),
            "steps": self.steps.get(id(course.schedule.optimizer), 0),
            "end": end_of(course.schedule),
            "shape": shape | {"peak": float(base) * shape["top"]},
            "batches": self._batches(),
            "floor_at": low,
            "rates": [rates[0], rates[-1]] if rates else [],
            "early": course.early,
            "first_rates": rates[:2],
        }

    def _batches(self) -> int | None:
        """Optimizer steps in a pass over the data: by the innermost loop around the steps, else by the loader's length."""
        found = []
        for at in self.passes.values():
            between = [b - a for a, b in itertools.pairwise(at) if b > a]
            if between and statistics.median(between) > 1:
                found.append(int(statistics.median(between)))
        if found:
            return min(found)
        return self.lengths[-1] if self.lengths else None
