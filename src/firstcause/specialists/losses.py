"""Losses of two arms compared: which came further, and by more than their noise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from firstcause.lab.counterfactual import Ran

# How much further the loss must come than without the change, in standard errors of the last fifth.
NOISE = 3.0
LEAST_GAIN = 0.02
# The first loss of two arms that start alike; a change of precision moves it by the rounding of a half type.
ALIKE = 1e-2


def end(ran: Ran) -> float:
    """The loss at the end of an arm: the median of its last fifth."""
    return float(statistics.median(_tail(ran))) if ran.losses else float("nan")


def further(changed: Ran, control: Ran) -> bool:
    """Whether the changed arm's loss fell below the control's by more than the noise of both."""
    if not changed.finite or len(changed.losses) < 5 or not control.losses:
        return False
    spread = max((max(t) - min(t)) / 2 for t in (_tail(changed), _tail(control)))
    noise = NOISE * spread / len(_tail(changed)) ** 0.5
    return bool(end(control) - end(changed) > max(noise, LEAST_GAIN * abs(end(control))))


def steadily_further(changed: Ran, control: Ran) -> bool:
    """The same step by step, for arms that see the same batches: the noise of a batch is in both of them."""
    return changed.finite and steadily_lower(changed.losses, control.losses)


def steadily_lower(changed: Sequence[float], control: Sequence[float], share: int = 5) -> bool:
    """Whether the last ``share``-th part of one series lies below the other's by more than the noise of the difference.

    Never where the first values differ: the batches are others then.
    """
    pairs = list(zip(control, changed, strict=False))
    if len(pairs) < 5 or not math.isclose(*pairs[0], rel_tol=ALIKE):
        return False
    tail = pairs[-max(3, len(pairs) // share) :]
    gains = [one - other for one, other in tail]
    noise = NOISE * statistics.stdev(gains) / len(gains) ** 0.5
    return bool(mean(gains) > max(noise, LEAST_GAIN * abs(mean([one for one, _ in tail]))))


def _tail(ran: Ran) -> Sequence[float]:
    return ran.losses[-max(3, len(ran.losses) // 5) :]


def mean(values: Sequence[float]) -> float:
    """The mean of a column; 0 where it is empty."""
    return sum(values) / len(values) if values else 0.0
