"""clip-before-unscale: gradients are clipped while they are still multiplied by the loss scale."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.record.journal import finite
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end, further
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "clip-before-unscale"
WATCHED = Arm("as it ran, clipping watched", "unscale_before_clip", {"only_watch": True})
UNSCALED = Arm("gradients unscaled before they are clipped", "unscale_before_clip")
STEPS = 60


def propose(examination: Examination) -> bool:
    """Only where all norms are one tiny number: that of a limit divided by a scale."""
    norms = sorted(finite(examination.rows, "grad_norm"))
    constant = bool(norms) and 0 < norms[-1] <= 1e-2 and norms[len(norms) // 20] >= 0.9 * norms[-1]
    return examination.symptom.kind == "no-learning" and constant


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if examination.lab is None:
        missing = "the first steps again, watched where gradients are clipped: diagnose with --yes"
        return inconclusive(CAUSE, missing)
    arms = _arms(examination)
    watched, unscaled = arms[WATCHED.name], arms[UNSCALED.name]
    if watched.ended == "lost":
        return inconclusive(CAUSE, watched.why)
    seen = watched.facts.get("clipped") or []
    if not seen:
        text = f"no gradient was clipped while it was scaled in {len(watched.rows)} steps"
        return refuted(CAUSE, Evidence("observation", False, text))
    first = seen[0]
    site = examination.site(first["site"])
    text = (
        f"{first['call']} at {site} held gradients of norm {first['norm']:.4g} at {first['limit']:g}, and they were still "
        f"{first['scale']:g} times too large: after the scaler's division a norm of {first['limit'] / first['scale']:.3g} is left"
    )
    if not further(unscaled, watched):
        missing = f"{text}; whether that is why the loss stands still: unscaled first, it did not come further either"
        return inconclusive(CAUSE, missing)
    ends = f"after {len(unscaled.losses)} steps the loss is {end(unscaled):.4g}, as it ran {end(watched):.4g}"
    values = {"clipped": first, "losses": {n: list(r.losses[::3]) for n, r in arms.items()}}
    evidence = Evidence("counterfactual", True, f"{text}; unscaled first, {ends}", values, site)
    return confirmed(CAUSE, site, evidence)


def _arms(examination: Examination) -> dict[str, Ran]:
    assert examination.lab is not None
    return examination.lab.from_start([WATCHED, UNSCALED], STEPS)


def facts(examination: Examination) -> Facts:
    if examination.lab is None:
        return {}
    seen = _arms(examination)[WATCHED.name].facts.get("clipped") or [{}]
    return examination.place(seen[0].get("site")) | {"scale": seen[0].get("scale")}
