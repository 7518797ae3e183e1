"""wrong-softmax-dim: what a softmax or a length normalises is added up along an axis on which it is not normalised."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "wrong-softmax-dim"
# How much smaller the loss has to become with the other axis, in parts of what it is; less where it was the batch's.
GAIN, OF_BATCH = 0.15, 0.05
LENGTHS = ("normalize", "norm")
# So many evaluations in which an axis has one element are no last batch of one.
LEAST_ALONE = 3


def seen(found: Ran, examination: Examination) -> str | None:
    one = _mixed(found)
    return _told(one) if one is not None else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and _mixed(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    """Whether the loss comes further with the softmax along the axis that is added up."""
    found = audits.audit(examination)
    one = _mixed(found) if found is not None else None
    if found is None or one is None or examination.lab is None:
        return inconclusive(CAUSE, "weights of a softmax that are added up along another axis than its own")
    site = examination.site(one["site"])
    to = one["use"]["axis"] - len(one["shape"])
    where = one["site"]
    axes = [[where["file"], where["line"], where.get("column"), one["function"], to]]
    settings = {"watch": ["weights_summed"], "axes": axes}
    arm = Arm("normalised along the axis that is added up", "audit", settings)
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    then, now = end(found), end(other)
    text = (
        f"{_told(one)}, at {site}; along axis {to} the loss comes to {now:.4g} instead of {then:.4g} in "
        f"{len(other.rows)} steps"
    )
    use = one["use"]
    values = {
        "axis": one["axis"],
        "summed_along": use["axis"],
        "low": use["low"],
        "high": use["high"],
        "loss": then,
        "loss_other": now,
    }
    # Samples that compete with each other are meant by nobody who then adds up within a sample.
    least = OF_BATCH if one["axis"] == 0 else GAIN
    # A target that is no distribution lets a divergence fall below 0, which is no gain.
    is_impossible = use["function"] == "kl_div" and then < 0 <= now
    if is_impossible:
        text = f"{text}: a divergence of two distributions is never below 0"
    if other.finite and (is_impossible or then - now >= least * abs(then)):
        return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))
    if _is_blind(one):
        # A loss under teacher forcing may gain by what such a softmax lets through of later places: it is no judge here.
        text, values = f"{_told(one)}, at {site}", values | {"evaluated": one["evaluated"]}
        return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))
    return inconclusive(CAUSE, f"{text}: no clear gain")


def _is_blind(one: Facts) -> bool:
    """Whether all weights of all evaluations are 1, whatever the scores: the axis has one element there, and more in training."""
    alone = one.get("alone", 0)
    many = alone >= LEAST_ALONE and alone == one["evaluated"] and one["shape"][one["axis"]] > 1
    return many and "softmax" in one["function"]


def _mixed(found: Ran) -> Facts | None:
    """A normalisation none of whose uses adds up along its own axis, with the first of these."""
    for one in found.facts.get("softmaxes") or []:
        uses = one["uses"]
        if one["function"] in LENGTHS and one["axis"] != 0:
            # Second moments of unit vectors, as Gram matrices are, go along another axis on purpose.
            continue
        if uses and not any(u["whole"] or u["axis"] == one["axis"] for u in uses):
            return dict(one) | {"use": uses[0]}
    return None


def _told(one: Facts) -> str:
    use = one["use"]
    what = "values" if "softmax" in one["function"] else "the squares of values"
    text = (
        f"{one['function']} makes {what} of shape {one['shape']} sum to 1 along axis {one['axis']}, and {use['function']} adds "
        f"them up along axis {use['axis']}, where they sum to {use['low']:.3g} to {use['high']:.3g}"
    )
    if _is_blind(one):
        text += (
            f"; in all of {one['evaluated']} evaluations axis {one['axis']} has one element, so that each weight is 1 whatever "
            "the scores are"
        )
    return text


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = _mixed(found) if found is not None else None
    if one is None:
        return {}
    return examination.place(one["site"]) | {
        "function": one["function"],
        "axis": one["use"]["axis"],
        "dims": len(one["shape"]),
    }
