"""Probabilities given to a loss that wants logits, settled by the same training with logits given."""

from __future__ import annotations

import math

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import LEAST_GAIN, end, steadily_lower
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed, inconclusive

# How much further the loss must come down from its own start than it did without the change.
FURTHER = 1.5


def form(cause: str, activation: str) -> Silent:
    """The cause that is this activation in front of a loss that applies it too."""

    def mine(found: Ran) -> Facts:
        seen: list[Facts] = found.facts.get("activated") or []
        return next((a for a in seen if a["activation"] == activation), {})

    return Silent(
        cause, mine, told, settle, facts, f"the output of a {activation} that a loss of logits is given"
    )


def told(one: Facts) -> str:
    """What the loss was given, with the range of its values."""
    return (
        f"{one['loss']} is given the output of a {one['activation']}, values from {one['low']:.3g} to {one['high']:.3g}, "
        f"and applies {one['activation']} to it once more"
    )


def settle(cause: str, examination: Examination, one: Facts) -> Hypothesis:
    """Whether the targets become more probable once the loss is given what the activation was given."""
    found = audits.audit(examination)
    if found is None or examination.lab is None:
        return inconclusive(cause, "the same training with logits given: diagnose with --yes")
    site = examination.site(one["site"])
    place = [one["site"]["file"], one["site"]["line"]]
    arm = Arm(
        f"logits in place of the {one['activation']}",
        "audit",
        {"watch": ["activations_before_loss"], "skipped": [place]},
    )
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    then, now = audits.end_of(found, "surprise"), audits.end_of(other, "surprise")
    floor = _floor(one)
    text = (
        f"{told(one)}, at {site}, so that its loss cannot fall below {floor:.3g} and ends at {end(found):.4g}; "
        f"given logits, it ends at {end(other):.4g} in {len(other.rows)} steps"
    )
    values = {"loss": end(found), "loss_with_logits": end(other), "floor": floor}
    if not math.isnan(then):
        text += f", the negative log-probability of the targets at {now:.4g} instead of {then:.4g}"
        values |= {"surprise": then, "surprise_with_logits": now}
    better = now <= audits.BETTER * then or steadily_lower(
        other.column("surprise"), found.column("surprise"), share=3
    )
    # Early on, a squeezed loss is a smaller learning rate and no more: what the loss itself has come down by tells.
    further = _fall(other) > max(
        FURTHER * _fall(found), LEAST_GAIN * abs(other.losses[0] if other.losses else 0)
    )
    if not other.finite or not (better or further or end(other) < floor):
        return inconclusive(cause, f"{text}: no clear gain")
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))


def _fall(ran: Ran) -> float:
    return ran.losses[0] - end(ran) if ran.losses else 0.0


def _floor(one: Facts) -> float:
    """The least loss of probabilities: all on the right class of C; for a sigmoid, as many positives as negatives."""
    if one["activation"] == "sigmoid":
        return (math.log(2.0) + math.log1p(math.exp(-1.0))) / 2
    classes = one["shape"][1] if len(one["shape"]) > 1 else one["shape"][0]
    return math.log1p((classes - 1) / math.e)


def facts(examination: Examination, one: Facts) -> Facts:
    keys = ("activation", "module", "class_name", "loss")
    return examination.place(one["site"]) | {k: one[k] for k in keys}
