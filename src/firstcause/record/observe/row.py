"""The journal's row of one step: loss, gradient norm, learning rate, seconds, and the norm of each parameter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from firstcause.record.observe import check, failure

if TYPE_CHECKING:
    from firstcause.record.observe.plan import Plan
    from firstcause.record.observe.recorder import Recorder


def write(recorder: Recorder, optimizer: torch.optim.Optimizer, verdict: check.Verdict, plan: Plan) -> None:
    """Write the row of the step that ``optimizer`` is about to take; ``plan`` holds the names of its columns."""
    rate = float(optimizer.param_groups[0].get("lr", 0.0)) if optimizer.param_groups else 0.0
    norm = math.hypot(*verdict.norms)
    loss = verdict.losses[-1] if verdict.losses else float("nan")
    row = [loss, norm, rate, recorder.step_seconds, *verdict.norms]
    if not plan.columns:
        names = failure.names_of(recorder, optimizer, len(verdict.norms))
        plan.columns = ("loss", "grad_norm", "lr", "seconds", *names)
    recorder.session.journal.metrics(recorder.step, plan.columns, row)
