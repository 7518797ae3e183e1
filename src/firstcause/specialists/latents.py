"""A reconstruction that is averaged over a sample's values beside a divergence that is summed: the first weighs too little."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

LEAST_VALUES = 8
# The weight of a divergence that the program does not weigh down, as it comes out of its sum; a larger one is much less meant.
WHOLE = (0.75, 10.0)
# A batch of more samples tells a sum over it from one of each.
LEAST_BATCH = 16
# What a value counts at most beside a number of the divergence, where it is averaged.
LITTLE = 0.25
# How small the error has to become, in parts of what it is.
BETTER = 0.7


def weighed(found: Ran) -> Facts | None:
    """Both terms where the one is a mean, the other a sum, and as noisy as the weights say there is nothing to rebuild."""
    for step in found.facts.get("latents") or []:
        error, nats = step["error"], step["nats"]
        batch = nats["shape"][0]
        of_sample = WHOLE[0] <= nats["weight"] * batch <= WHOLE[1]
        of_batch = WHOLE[0] <= nats["weight"] <= WHOLE[1] and batch >= LEAST_BATCH
        if error["features"] < LEAST_VALUES or not (of_sample or of_batch):
            continue
        if batch != error["batch"] or error["site"] is None or not error["weight"]:
            continue
        weight = error["weight"] / nats["weight"]
        one = {"error": error, "nats": nats, "weight": weight, "noise": _noise(error["kind"], weight)}
        one |= {"values": error["features"] * (1 if of_sample else batch), "of_batch": not of_sample}
        # A mean that is multiplied by the number of its values is a sum.
        if weight <= LITTLE and (one["noise"] is None or one["noise"] >= error["spread"] > 0):
            return one
    return None


def _noise(kind: str, weight: float) -> float | None:
    """The variance, or mean deviation, of which errors of this weight are the likelihood; a probability has none."""
    return {"square": 1 / (2 * weight), "abs": 1 / weight}.get(kind)


def told(one: Facts) -> str:
    """Both reductions, and what they come to."""
    error, nats = one["error"], one["nats"]
    latent, line = nats["shape"][-1], nats["site"]["line"]
    of = (
        f"{nats['shape'][0]} x {latent} latent values of a batch"
        if one["of_batch"]
        else f"its {latent} latent values"
    )
    over = f"{one['values']} values of a {'batch' if one['of_batch'] else 'sample'}"
    text = (
        f"the error of the reconstruction is the mean over {over}, and the divergence of {of} (line {line}) their sum: "
        f"beside it each value counts {one['weight']:.3g}"
    )
    if one["noise"] is None:
        return f"{text} of its probability"
    measure = "variance" if error["kind"] == "square" else "mean deviation"
    return (
        f"{text}, as it would under a noise of {measure} {one['noise']:.3g}, where that of the data is "
        f"{error['spread']:.3g}"
    )


def settle(cause: str, examination: Examination, found: Ran, one: Facts) -> Hypothesis:
    """Whether what is rebuilt comes nearer to the data where both count by the value."""
    assert examination.lab is not None
    site, values = examination.site(one["error"]["site"]), one["values"]
    settings = {"watch": ["latents_weighed"], "divided": values}
    name = f"the divergence divided by {values}"
    other, then, now = audits.beside(examination.lab, found, name, settings, "rebuilt")
    nats, nats_now = audits.end_of(found, "nats"), audits.end_of(other, "nats")
    text = (
        f"{told(one)}; the error at {site} goes to {then:.4g} with {nats:.3g} nats a sample in {len(found.rows)} steps, and "
        f"with the divergence divided by {values} as well to {now:.4g} with {nats_now:.3g}"
    )
    if not now <= BETTER * then or not nats_now > nats:
        return inconclusive(cause, f"{text}: no clear gain")
    measured = {"values": values, "weight": one["weight"], "rebuilt": then, "rebuilt_weighed": now}
    measured |= {"nats": nats, "nats_weighed": nats_now}
    return confirmed(cause, site, Evidence("counterfactual", True, text, measured, site))
