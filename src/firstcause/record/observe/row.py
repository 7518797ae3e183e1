"""The journal's row of one step: loss, gradient norm, learning rate, seconds, and the norm of each parameter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from firstcause.record.observe import check, failure

if TYPE_CHECKING:
    from firstcause.record.observe.plan import Plan
    from firstcause.record.observe.recorder import Recorder


def rate(optimizer: torch.optim.Optimizer) -> float:
    """The learning rate of the first group, where it is a number on the host."""
    value = optimizer.param_groups[0].get("lr", 0.0) if optimizer.param_groups else 0.0
    # On a device, a capturable optimizer has it: to read it would be to wait.
    return float("nan") if isinstance(value, torch.Tensor) and value.device.type != "cpu" else float(value)


def write(
    recorder: Recorder,
    optimizer: torch.optim.Optimizer,
    verdict: check.Verdict,
    plan: Plan,
    moment: tuple[int, float, float] | None = None,
) -> None:
    """Write the row of the step that ``optimizer`` is about to take; ``plan`` holds the names of its columns.

    ``moment``: step, seconds and learning rate of an earlier one, whose values have only now arrived.
    """
    step, seconds, lr = moment or (recorder.step, recorder.step_seconds, rate(optimizer))
    norm = math.hypot(*verdict.norms)
    loss = verdict.losses[-1] if verdict.losses else float("nan")
    row = [loss, norm, lr, seconds, *verdict.norms]
    if not plan.columns:
        names = failure.names_of(recorder, optimizer, len(verdict.norms))
        plan.columns = ("loss", "grad_norm", "lr", "seconds", *names)
    recorder.session.journal.metrics(step, plan.columns, row)
