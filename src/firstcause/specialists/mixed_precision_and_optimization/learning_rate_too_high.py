"""learning-rate-too-high: the updates overshoot from the first steps, and a smaller rate alone trains."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL
from firstcause.record.journal import finite
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.trajectories import (
    CLIPPED,
    DIVIDED,
    SLOWER,
    SLOWEST,
    STILL,
    Trajectories,
    first_update,
    trajectories,
    worth_asking,
)
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "learning-rate-too-high"


def propose(examination: Examination) -> bool:
    return worth_asking(examination)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if not worth_asking(examination):
        return _not_running_away(examination)
    found = trajectories(examination)
    if isinstance(found, str):
        return inconclusive(CAUSE, found)
    smaller = [SLOWER, SLOWEST, *([found.usual] if found.usual is not None else [])]
    kept = any(map(found.trains, smaller))
    arms = [CONTROL, *smaller, STILL, CLIPPED]
    unknown = next((arm for arm in smaller if found.arms[arm.name].ended == "lost"), None)
    if not kept and unknown is not None:
        return inconclusive(CAUSE, found.describe(unknown))
    if not kept:
        evidence = found.evidence(False, arms, "a smaller learning rate alone does not keep the training")
        return refuted(CAUSE, evidence)
    if found.calls > 1 and found.kept(DIVIDED):
        text = f"the same rate trains once the gradients of {found.calls} backward calls are averaged"
        return refuted(CAUSE, found.evidence(False, [*arms, DIVIDED], text))
    burst = found.burst
    # Clipped at a norm that hardly moves the weights, everything stays near its start: that is no training yet.
    if (found.kept(CLIPPED) and burst is not None) or (found.trains(CLIPPED) and not found.kept(SLOWER)):
        text = "the same rate trains once single large gradients are clipped"
        return refuted(CAUSE, found.evidence(False, arms, text))
    best = found.trained_before
    if best is not None:
        missing = f"at the same rate the loss had come down from {found.start:.3g} to {best:.3g} before: what changed then"
        return inconclusive(CAUSE, missing)
    if not found.overshoots:
        missing = f"a smaller rate keeps the training, but no update is large beside the weights: {_mechanism(found)}"
        return inconclusive(CAUSE, missing)
    evidence = found.evidence(True, arms, _mechanism(found))
    return confirmed(CAUSE, None, evidence)


def _mechanism(found: Trajectories) -> str:
    rate = found.control.rows[0].get("lr")
    first = found.control.rows[0]
    moved = ""
    if first.get("weights"):
        moved = f", and its first update moved the weights by {100 * first_update(found.control):.3g} % of their norm"
    grown = [w for w in found.control.column("weights") if w]
    growth = f"; the weights grew {grown[-1] / grown[0]:.3g} times" if len(grown) > 1 and grown[0] else ""
    return f"the learning rate is {rate:g}{moved}{growth}: a smaller rate alone trains from the same weights on the same batches"


def _not_running_away(examination: Examination) -> Hypothesis:
    """A theory of somebody's about a run whose losses and gradients never left their start."""
    rows = examination.rows
    losses, norms = finite(rows, "loss"), finite(rows, "grad_norm")
    if not losses or not norms:
        return inconclusive(CAUSE, "no step was recorded before the one that failed")
    text = (
        f"before step {rows[-1]['step'] + 1} nothing ran away: the loss went from {losses[0]:.3g} to {losses[-1]:.3g}, "
        f"the gradient norm from {norms[0]:.3g} to {norms[-1]:.3g} (largest {max(norms):.3g})"
    )
    values = {"losses": losses[-20:], "norms": norms[-20:]}
    return refuted(CAUSE, Evidence("observation", False, text, values))


def facts(examination: Examination) -> Facts:
    found = trajectories(examination)
    if isinstance(found, str):
        return {}
    rate = found.control.rows[0]["lr"]
    if found.usual is not None and found.trains(found.usual):
        # What the others leave of the rate overshoots as well, even where it comes down afterwards.
        return {"rate": rate, "factor": found.usual.settings["factor"]}
    factor = 0.1 if found.trains(SLOWER) else 0.01
    if found.trains(SLOWER) and found.trains(SLOWEST):
        # Where both train, the one that came further in the same steps.
        ends = {
            0.1: found.arms[SLOWER.name].losses[-5:],
            0.01: found.arms[SLOWEST.name].losses[-5:],
        }
        factor = min(ends, key=lambda f: sum(ends[f]) / len(ends[f]))
    return {"rate": rate, "factor": factor}
