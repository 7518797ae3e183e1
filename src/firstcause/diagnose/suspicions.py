"""What a run that ended without an error shows all the same, measured against its own start.

A suspicion is no failure yet: it becomes one where a counterfactual removes it. A weak one that none removes is
dropped without a word: a loss that stands still may simply have arrived.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from firstcause.lab.counterfactual import Ran
from firstcause.record.folder import RunFolder
from firstcause.record.journal import finite, steps_of
from firstcause.schema import Symptom
from firstcause.specialists import SPECIALISTS
from firstcause.specialists.audits import audited as audit_of
from firstcause.specialists.divergence import dead_from, onset, smoothed
from firstcause.specialists.examination import Examination
from firstcause.specialists.performance_profiling import SPECIALIST as PERFORMANCE
from firstcause.specialists.specialist import AloneCause, SilentCause

LEAST_STEPS = 10
SLOW = tuple(m for m in PERFORMANCE.modules if isinstance(m, SilentCause))
AUDITED = tuple(
    m for s in SPECIALISTS if s is not PERFORMANCE for m in s.modules if isinstance(m, SilentCause)
)
# A source of chance that is not seeded makes no training worse: it is named where nothing else is wrong.
LAST = ("seed-incomplete",)
# Wide on purpose: a spike of one batch, a warm-up and an adversary's rising loss stay below at least one of these.
PEAK_RATIO = 10.0
END_RATIO = 0.9
# A norm that never changes is that of a clipped gradient; one this small moves nothing.
CONSTANT = 0.02
TINY_NORM = 1e-2
UNCHANGED = 0.05


@dataclass(frozen=True)
class Suspicion:
    """A symptom that only the figures show, and whether it is worth a word where no cause is found."""

    symptom: Symptom
    strong: bool


def suspicion(folder: RunFolder) -> Suspicion | None:
    """The first thing in the journals that a healthy training does not show, or None."""
    steps = steps_of(folder.journals().values())
    losses, norms = finite(steps, "loss"), finite(steps, "grad_norm")
    if len(losses) < LEAST_STEPS:
        return None
    return (
        _diverging(losses)
        or _dead(losses, norms)
        or (_still(losses, norms) if len(norms) >= LEAST_STEPS else None)
    )


def audited(examination: Examination) -> dict[str, str]:
    """What the audit of a training shows that nobody means: a sentence a cause; empty where it may not be run again."""
    if examination.lab is None:
        return {}
    return _seen(audit_of(examination.lab), examination, (m for m in AUDITED if m.CAUSE not in LAST))


def left(examination: Examination) -> dict[str, str]:
    """The same for what is asked last: it is true beside any other cause, and tells nothing of that one."""
    if examination.lab is None:
        return {}
    return _seen(audit_of(examination.lab), examination, (m for m in AUDITED if m.CAUSE in LAST))


def alone(examination: Examination) -> dict[str, str]:
    """What audits of single causes show, each much cheaper than the one that serves all."""
    told: dict[str, str] = {}
    for module in (m for s in SPECIALISTS for m in s.modules if isinstance(m, AloneCause)):
        found = module.alone(examination)
        text = module.seen(found, examination) if found is not None else None
        told |= {module.CAUSE: text} if text is not None else {}
    return told


def slow(examination: Examination) -> dict[str, str]:
    """What makes the steps of a training slow, the same; asked where nothing is wrong with what they compute."""
    return _seen(Ran("", "lost"), examination, SLOW) if examination.lab is not None else {}


def _seen(found: Ran, examination: Examination, causes: Iterable[SilentCause]) -> dict[str, str]:
    told = {m.CAUSE: m.seen(found, examination) for m in causes}
    return {cause: text for cause, text in told.items() if text is not None}


def _diverging(losses: Sequence[float]) -> Suspicion | None:
    start, peak = abs(losses[0]), max(smoothed(losses))
    end = statistics.median(losses[-max(5, len(losses) // 10) :])
    if not start or peak < PEAK_RATIO * start or end < END_RATIO * start:
        return None
    text = (
        f"the loss rose from {start:.3g} at the first step to {peak:.3g} and ended at {end:.3g}, "
        f"{end / start:.3g} times its start"
    )
    return Suspicion(Symptom("divergence", text, step=onset(losses)), True)


def _dead(losses: Sequence[float], norms: Sequence[float]) -> Suspicion | None:
    since = dead_from(losses, norms)
    if since is None:
        return None
    text = (
        f"the loss went from {losses[0]:.3g} at the first step to {max(map(abs, losses)):.3g}, and from step {since} on the "
        "loss and every gradient are exactly 0"
    )
    # A margin that is kept by all pairs looks the same.
    return Suspicion(Symptom("divergence", text, step=onset(losses) or since), False)


def _still(losses: Sequence[float], norms: Sequence[float]) -> Suspicion | None:
    tenth = max(3, len(losses) // 10)
    first, last = statistics.median(losses[:tenth]), statistics.median(losses[-tenth:])
    if abs(last - first) > max(UNCHANGED * abs(first), _spread(losses[:tenth])):
        return None
    ordered = sorted(norms)
    low, middle, high = (ordered[int(q * (len(ordered) - 1))] for q in (0.05, 0.5, 0.95))
    constant = middle <= TINY_NORM and high - low <= CONSTANT * middle
    text = (
        f"the loss went from {first:.4g} to {last:.4g} in {len(losses)} steps, "
        f"at gradient norms of {low:.3g} to {high:.3g}"
    )
    return Suspicion(Symptom("no-learning", text), constant)


def _spread(values: Sequence[float]) -> float:
    """Half the distance from the smallest to the largest: the noise of single batches."""
    return (max(values) - min(values)) / 2
