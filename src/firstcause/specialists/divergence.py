"""Whether the run was already running away before the failing step: then a pole that is met is a consequence."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from firstcause.record.journal import finite
from firstcause.specialists.examination import Examination

# Chosen wide: a spike of one batch stays below, a divergence passes both within a few steps.
LOSS_RATIO = 10.0
GRADIENT_RATIO = 100.0
COMPARED = 5
ONSET_RATIO = 4.0
# A loss of so many times its start, then 0 for this share of the run: a training that learns comes down to 0, not from there.
THROWN_RATIO, DEAD_SHARE, LEAST_DEAD = 10.0, 1 / 3, 5


def diverged(examination: Examination) -> str:
    """A sentence with the numbers where losses and gradient norms both grew far beyond the run's own start, else ''."""
    losses, norms = [abs(x) for x in finite(examination.rows, "loss")], finite(examination.rows, "grad_norm")
    if len(losses) < 2 * COMPARED or len(norms) < 2 * COMPARED:
        return ""
    loss_then, loss_now = statistics.median(losses[:COMPARED]), max(losses[-COMPARED:])
    norm_then, norm_now = statistics.median(norms[:COMPARED]), max(norms[-COMPARED:])
    if loss_now < LOSS_RATIO * loss_then or norm_now < GRADIENT_RATIO * norm_then:
        return ""
    return (
        f"the run had diverged before: the loss rose from {loss_then:.3g} to {loss_now:.3g}, "
        f"the gradient norm from {norm_then:.3g} to {norm_now:.3g}; a smaller learning rate must be tried first"
    )


def dead_from(losses: Sequence[float], norms: Sequence[float]) -> int | None:
    """The step from which loss and gradient are exactly 0 up to the end, after a loss far beyond its start; else None."""
    steps = min(len(losses), len(norms))
    alive = next((i for i in reversed(range(steps)) if losses[i] or norms[i]), None)
    if alive is None or not losses[0] or steps - alive - 1 < max(LEAST_DEAD, DEAD_SHARE * steps):
        return None
    return alive + 1 if max(map(abs, losses)) >= THROWN_RATIO * abs(losses[0]) else None


def onset(losses: Sequence[float]) -> int | None:
    """The first step at which the loss, smoothed over three, stands at four times that of the start."""
    start = abs(losses[0]) if losses else 0.0
    return next((i for i, x in enumerate(smoothed(losses)) if start and x >= ONSET_RATIO * start), None)


def smoothed(losses: Sequence[float]) -> list[float]:
    """Medians of three, so that one batch alone makes no peak."""
    return [statistics.median_low(map(abs, losses[max(0, i - 1) : i + 2])) for i in range(len(losses))]
