"""Steps that a GradScaler leaves out again and again although no scale can help: the loss itself is not finite.

One such step, or a few while the scale is found, are normal: a loss in float16 overflows under a scale that is too large.
A loss that is no number is no matter of the scale, nor is an infinite one in float32: those count also where steps that
went well lie between them. Without a step no hook of torch's is called, so those are counted at the next mark; a fused
optimizer steps and leaves its parameters alone by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from firstcause.record.observe import check, failure

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder

# In a row, each with a loss that is not finite: an outlier among the batches makes fewer.
IN_A_ROW = 5
# In the whole run, each with a loss that no scale explains, and of so many steps at least one: a batch may be an accident.
IN_ALL, OF_STEPS = 2, 100


class LeftOut:
    """How many steps were left out with a loss that is not finite: in a row, and in all."""

    def __init__(self) -> None:
        self.count = self.unexplained = self.seen = 0
        # Whether the program has a GradScaler: without one, a pass without a step only gathers gradients.
        self.scaler = False

    def too_many(self, values: Sequence[float], narrow: Sequence[bool]) -> bool:
        """Count one more, by its losses, each ``narrow`` or not; True once those that are not finite are no accident."""
        bad = [(v, n) for v, n in zip(values, narrow, strict=False) if not math.isfinite(v)]
        self.seen += 1
        self.count = self.count + 1 if bad else 0
        if any(math.isnan(v) or not n for v, n in bad):
            self.unexplained += 1
        often = self.unexplained >= IN_ALL and self.unexplained * OF_STEPS >= self.seen
        return bool(bad) and (self.count >= IN_A_ROW or often)

    def is_failure(
        self, optimizer: torch.optim.Optimizer, verdict: check.Verdict, losses: Sequence[torch.Tensor]
    ) -> bool:
        """Whether a step that is about to be taken fails; a fused optimizer under a GradScaler has its flag, and skips."""
        left_out = self.too_many(verdict.losses, are_narrow(losses))
        return not verdict.healthy and (left_out or optimizer.__dict__.get("found_inf") is None)

    def look(self, recorder: Recorder) -> None:
        """At a mark: whether the pass before ended without a step because of its loss."""
        if not (self.scaler and recorder.losses and recorder.window) or recorder._stepped or recorder.failed:
            return
        # The scaler has waited for the device in that pass, to know whether to step.
        values = tuple(float(x.float().sum()) for x in recorder.losses)
        if math.isfinite(values[-1]):
            return
        optimizers = list(recorder.reachable.optimizers.values())
        if self.too_many(values, are_narrow(recorder.losses)) and len(optimizers) == 1:
            recorder.failed = True
            self._tell(recorder, optimizers[0], values)
        recorder.window, recorder.losses, recorder.window_complete = [], [], True

    def _tell(self, recorder: Recorder, optimizer: torch.optim.Optimizer, losses: tuple[float, ...]) -> None:
        held = [p for group in optimizer.param_groups for p in group["params"]]
        bad = tuple(i for i, value in enumerate(losses) if not math.isfinite(value))
        several = f"{self.count} steps in a row" if self.count >= IN_A_ROW else f"{self.unexplained} steps"
        text = f"{several} were left out by the GradScaler, each with a loss that is not finite"
        recorder.session.journal.event("note", text=text)
        recorder.deferred.late_norms = {}
        try:
            failure.numeric(recorder, optimizer, check.Verdict(losses, (), bad, ()), held, [])
        finally:
            recorder.deferred.late_norms = None


def are_narrow(losses: Sequence[torch.Tensor]) -> tuple[bool, ...]:
    """Which losses are in float16, where a scale of its own makes one infinite."""
    return tuple(x.dtype is torch.float16 for x in losses)
