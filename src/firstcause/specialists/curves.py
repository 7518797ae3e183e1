"""The losses of the experiments that settled a cause, side by side: what a person looks at before the sentence."""

from __future__ import annotations

import math
from dataclasses import replace

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists.examination import Examination

# Points of a curve, and experiments on one plot.
MOST_POINTS, MOST_ARMS, LEAST = 200, 4, 4


def asked(examination: Examination) -> int:
    """How many experiments have been asked for so far."""
    return len(examination.lab.asked) if examination.lab is not None else 0


def with_curves(settled: Hypothesis, examination: Examination, since: int) -> Hypothesis:
    """A confirmed hypothesis, to whose last experiment the losses of the arms asked for ``since`` then are added.

    As it is where there are not two of them, or the evidence has curves of its own.
    """
    if settled.status != "confirmed" or examination.lab is None:
        return settled
    places = [n for n, e in enumerate(settled.evidence) if e.kind == "counterfactual" and e.supports]
    ran = examination.lab.ran(since)
    curves = {name: _curve(one) for name, one in ran.items() if len(one.losses) >= LEAST}
    if not places or len(curves) < 2 or "losses" in str(settled.evidence[places[-1]].values):
        return settled
    told = settled.evidence[places[-1]]
    shown = dict(list(curves.items())[:MOST_ARMS])
    with_them = replace(told, values={**told.values, "losses": shown})
    evidence = (*settled.evidence[: places[-1]], with_them, *settled.evidence[places[-1] + 1 :])
    return replace(settled, evidence=evidence)


def _curve(one: Ran) -> list[float | None]:
    stride = -(-len(one.losses) // MOST_POINTS)
    return [float(f"{loss:.5g}") if math.isfinite(loss) else None for loss in one.losses[::stride]]
