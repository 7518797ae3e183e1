"""Weights of samples that a loss cannot tell apart, since it was averaged before they came to it."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

LEAST_TIMES = 10
# How small the loss by the weights has to become with a value for each sample, in parts of what it is without.
BETTER = 0.8


def multiplied(found: Ran) -> Facts | None:
    """The product of a mean with weights; None where there is none, or a single look."""
    of: list[Facts] = found.facts.get("weights_lost") or []
    return next((one for one in of if one["times"] >= LEAST_TIMES), None)


def told(one: Facts) -> str:
    return (
        f"the loss is the mean of a batch of {one['batch']} before it is multiplied by a weight for each sample: every weight "
        "multiplies the same number, and divided by their sum they cancel"
    )


def settle(cause: str, examination: Examination, found: Ran, one: Facts) -> Hypothesis:
    """Whether the loss by the weights comes further where each sample keeps its own."""
    assert examination.lab is not None
    site, product = examination.site(one["loss"]), examination.site(one["site"])
    settings = {"watch": ["weights_lost"], "unreduced": [[one["loss"]["file"], one["loss"]["line"]]]}
    name = "a loss for each sample"
    _, then, now = audits.beside(examination.lab, found, name, settings, "weighted")
    text = (
        f"{told(one)}, at {product}; the loss by the weights goes to {then:.4g} in {len(found.rows)} steps, and to {now:.4g} "
        "where each sample keeps its own"
    )
    if not now <= BETTER * then:
        return inconclusive(cause, f"{text}: no clear gain")
    values = {"batch": one["batch"], "weighted": then, "weighted_each": now}
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
