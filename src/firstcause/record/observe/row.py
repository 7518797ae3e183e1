"""The journal's row of one step: loss, gradient norm, learning rate, seconds, and the norm of each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from firstcause.record.observe import check, failure

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder


def write(recorder: Recorder, optimizer: torch.optim.Optimizer, verdict: check.Verdict) -> None:
    """Write the row of the step that ``optimizer`` is about to take; the columns are named anew when they change."""
    rate = float(optimizer.param_groups[0].get("lr", 0.0)) if optimizer.param_groups else 0.0
    norm = sum(n * n for n in verdict.norms) ** 0.5 if verdict.norms else 0.0
    loss = verdict.losses[-1] if verdict.losses else float("nan")
    row = [loss, norm, rate, recorder.step_seconds, *verdict.norms]
    if len(row) != len(recorder.columns):
        names = failure.names_of(recorder, optimizer, len(verdict.norms))
        recorder.columns = ("loss", "grad_norm", "lr", "seconds", *names)
    recorder.session.journal.metrics(recorder.step, recorder.columns, row)
