"""A schedule that counts epochs and is stepped once a batch.

Seen: it steps in the loop over batches; one epoch's batches already take it to its end, or below a millionth of its rate;
and its length is that of the loop over epochs, or less.
Refuted by: a length in batches, a schedule that starts anew by design.
"""

from __future__ import annotations

import math
from typing import Any

from firstcause.check.dry.child.watcher import Watcher

TOO_SMALL = 1e-6


class SchedulePerBatch(Watcher):
    SLUG = "scheduler-per-batch"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.batches: int | None = None
        self.trained = False

    def loaded(self, loader: Any) -> None:
        try:
            self.batches = len(loader)
        except TypeError:
            self.batches = None

    def scheduled(self, scheduler: Any) -> None:
        loops = [x for x in self.session.loops if x.steps]
        if len(loops) < 2 or self.batches is None:
            return
        epochs, inner = loops[-2], loops[-1]
        if not epochs.planned or not inner.planned or inner.planned != self.batches or inner.steps < 2:
            return
        total, kind = epochs.planned * self.batches, type(scheduler).__name__
        length = (
            getattr(scheduler, "T_max", None)
            if kind == "CosineAnnealingLR"
            else getattr(scheduler, "step_size", None)
        )
        if not isinstance(length, int) or length > epochs.planned or total < 4 * length or self.batches < 4:
            return
        if kind == "StepLR":
            smallest = scheduler.gamma ** (total // length)
            if smallest >= TOO_SMALL:
                return
            says = (
                f"its rate is multiplied by {smallest:.1e} in the end, {math.ceil(total / length)} drops "
                f"instead of {epochs.planned // length}"
            )
        elif kind == "CosineAnnealingLR" and length == epochs.planned:
            says = f"its {length} steps are over after {length} of {total} batches, and the rate rises again"
        else:
            return
        self.session.find(self.SLUG, "critical", f"the schedule counts epochs and steps once a batch: {says}")
