"""Steps that a GradScaler leaves out again and again although no scale can help: the loss itself is not finite.

One such step, or a few while the scale is found, are normal. Without a step no hook of torch's is called, so those are
counted at the next mark; a fused optimizer steps and leaves its parameters alone by itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from firstcause.record.observe import check, failure

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder

# In a row, each with a loss that is not finite: an outlier among the batches makes fewer.
IN_A_ROW = 5


class LeftOut:
    """How many steps in a row were left out with a loss that is not finite."""

    def __init__(self) -> None:
        self.count = 0
        # Whether the program has a GradScaler: without one, a pass without a step only gathers gradients.
        self.scaler = False

    def too_many(self, is_bad: bool) -> bool:
        """Count one more; True once they are no accident."""
        self.count = self.count + 1 if is_bad else 0
        return self.count >= IN_A_ROW

    def is_failure(self, optimizer: torch.optim.Optimizer, verdict: check.Verdict) -> bool:
        """Whether a step that is about to be taken fails; a fused optimizer under a GradScaler has its flag, and skips."""
        left_out = self.too_many(bool(verdict.bad_losses))
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
        if self.too_many(True) and len(optimizers) == 1:
            recorder.failed = True
            self._tell(recorder, optimizers[0], values)
        recorder.window, recorder.losses, recorder.window_complete = [], [], True

    def _tell(self, recorder: Recorder, optimizer: torch.optim.Optimizer, losses: tuple[float, ...]) -> None:
        held = [p for group in optimizer.param_groups for p in group["params"]]
        bad = tuple(i for i, value in enumerate(losses) if not math.isfinite(value))
        text = f"{self.count} steps in a row were left out by the GradScaler, each with a loss that is not finite"
        recorder.session.journal.event("note", text=text)
        recorder.deferred.late_norms = {}
        try:
            failure.numeric(recorder, optimizer, check.Verdict(losses, (), bad, ()), held, [])
        finally:
            recorder.deferred.late_norms = None
