"""wrong-reduction: a sum over the batch where the mean comes further, a best value of another axis, errors that cancel.

And a mean over the values of a sample beside a sum over those of its latent, and one over the samples before their weights.
"""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, cancelled, extremes, latents, shifts, weights_lost
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import mean
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "wrong-reduction"
# How small the loss of each value has to become with the mean, in parts of what it is with the sum.
BETTER = 0.8
ALWAYS = 0.95


def seen(found: Ran, examination: Examination) -> str | None:
    one, crossed, mixed = _summed(found), extremes.across(found), cancelled.averaged(found)
    if one is not None:
        return _told(one)
    if crossed is not None:
        return extremes.told(crossed)
    if mixed is not None:
        return cancelled.told(mixed)
    unequal = latents.weighed(found)
    if unequal is not None:
        return latents.told(unequal)
    even = weights_lost.multiplied(found)
    return weights_lost.told(even) if even is not None else None


def propose(examination: Examination) -> bool:
    return any(of(examination) is not None for of in (_found, _crossed, _mixed, _unequal, _even))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found, one, crossed = _audit(examination), _found(examination), _crossed(examination)
    if found is not None and crossed is not None and one is None and examination.lab is not None:
        return extremes.settle(CAUSE, examination, found, crossed)
    mixed = _mixed(examination)
    if found is not None and mixed is not None and one is None and examination.lab is not None:
        return cancelled.settle(CAUSE, examination, found, mixed)
    unequal = _unequal(examination)
    if found is not None and unequal is not None and one is None and examination.lab is not None:
        return latents.settle(CAUSE, examination, found, unequal)
    even = _even(examination)
    if found is not None and even is not None and one is None and examination.lab is not None:
        return weights_lost.settle(CAUSE, examination, found, even)
    if found is None or one is None or examination.lab is None:
        return inconclusive(CAUSE, "a loss that is summed over its batch, undivided")
    site = examination.site(one["site"])
    place = [one["site"]["file"], one["site"]["line"]]
    arm = Arm("the mean in place of the sum", "audit", {"watch": ["sums_in_loss"], "meaned": [place]})
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    then, now = audits.end_of(found, "each"), audits.end_of(other, "each")
    start = mean(found.column("each")[:1])
    text = (
        f"{_told(one)}, at {site}; by value it goes from {start:.4g} to {then:.4g} in {len(found.rows)} steps, and with the "
        f"mean at the same learning rate to {now:.4g}"
    )
    values = {"count": one["count"], "each": then, "each_with_mean": now, "start": start}
    failed = not found.finite
    if not other.finite or not other.column("each") or not (failed or now <= BETTER * then):
        return inconclusive(CAUSE, f"{text}: no clear gain")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _audit(examination: Examination) -> Ran | None:
    """The audit of the training; also of one whose loss runs away, which is what a sum does at a mean's rate."""
    if examination.symptom.kind == "divergence" and examination.lab is not None:
        # One more start of the program: only where something is summed at all.
        return audits.audited(examination.lab) if shifts.says(examination, r"(^| )sum( |$)") else None
    return audits.audit(examination)


def _found(examination: Examination) -> Facts | None:
    found = _audit(examination)
    return _summed(found) if found is not None else None


def _crossed(examination: Examination) -> Facts | None:
    found = _audit(examination)
    return extremes.across(found) if found is not None else None


def _mixed(examination: Examination) -> Facts | None:
    found = _audit(examination)
    return cancelled.averaged(found) if found is not None else None


def _unequal(examination: Examination) -> Facts | None:
    found = _audit(examination)
    return latents.weighed(found) if found is not None else None


def _even(examination: Examination) -> Facts | None:
    found = _audit(examination)
    return weights_lost.multiplied(found) if found is not None else None


def _summed(found: Ran) -> Facts | None:
    """The one sum that is the whole loss of each backward call."""
    of: list[Facts] = found.facts.get("summed") or []
    alone = [s for s in of if s["used"] and s["whole_loss"] >= ALWAYS * found.facts.get("backwards", 0) > 0]
    return next((s for s in alone if s["whole"] >= ALWAYS * s["used"]), None)


def _told(one: Facts) -> str:
    name = "the loss" if one["loss"] == "sum" else one["loss"]
    return (
        f"{name} is the sum of {one['count']} values of a batch of {one['batch']}, and each gradient is {one['count']} times "
        "that of the mean"
    )


def facts(examination: Examination) -> Facts:
    one, crossed = _found(examination), _crossed(examination)
    if one is None and crossed is not None:
        return examination.place(crossed["site"]) | {"extreme": crossed["function"]}
    mixed = _mixed(examination)
    if one is None and mixed is not None:
        return examination.place(mixed["site"]) | {"averages": mixed["function"]}
    unequal = _unequal(examination)
    if one is None and unequal is not None:
        error = unequal["error"]
        known = {"function": error["function"], "axes": bool(error.get("axes")), "values": unequal["values"]}
        known["of_batch"] = unequal["of_batch"]
        return examination.place(error["site"]) | known
    even = _even(examination)
    if one is None and even is not None:
        return examination.place(even["loss"]) | {"weights": True}
    return {} if one is None else examination.place(one["site"]) | {k: one[k] for k in ("loss", "count")}
