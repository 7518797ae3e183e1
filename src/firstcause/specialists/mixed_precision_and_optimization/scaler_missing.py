"""scaler-missing: float16 gradients underflow to 0 because the loss is not scaled."""

from __future__ import annotations

from firstcause.lab.counterfactual import CONTROL, Arm
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end, further, mean
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "scaler-missing"
SCALED = Arm("loss scaled by 65536", "scale_loss", {"scale": 65536.0})
STEPS = 60
# Of the gradient's elements: so many are exactly 0 as it ran, and the scale brings back at least this share of them.
ZEROS, BROUGHT_BACK = 0.3, 0.5


def propose(examination: Examination) -> bool:
    return examination.symptom.kind == "no-learning"


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if examination.lab is None:
        missing = "the first steps again with the loss scaled: diagnose with --yes"
        return inconclusive(CAUSE, missing)
    control = examination.lab.from_start([CONTROL], STEPS)[CONTROL.name]
    if control.rows and mean(control.column("grad_zeros")) < ZEROS:
        text = f"{100 * mean(control.column('grad_zeros')):.0f} % of the gradients' elements are exactly 0"
        return refuted(CAUSE, Evidence("observation", False, text))
    scaled = examination.lab.from_start([SCALED], STEPS)[SCALED.name]
    if control.ended == "lost" or not control.rows or not scaled.rows:
        missing = control.why or scaled.why or "no step was seen"
        return inconclusive(CAUSE, missing)
    zeros, left = mean(control.column("grad_zeros")), mean(scaled.column("grad_zeros"))
    text = f"{100 * zeros:.0f} % of the gradients' elements are exactly 0, and {100 * left:.0f} % with the loss scaled by 65536"
    values = {"zeros": zeros, "zeros_scaled": left, "end": end(control), "end_scaled": end(scaled)}
    if left > (1 - BROUGHT_BACK) * zeros:
        return refuted(CAUSE, Evidence("counterfactual", False, text, values))
    if not further(scaled, control):
        missing = f"{text}; whether that is why the loss stands still: scaled, it did not come further either"
        return inconclusive(CAUSE, missing)
    site = examination.site(control.rows[0].get("site"))
    came = f"the loss comes to {end(scaled):.4g} instead of {end(control):.4g} in {len(scaled.losses)} steps"
    return confirmed(CAUSE, site, Evidence("counterfactual", True, f"{text}; {came}", values, site))


def facts(examination: Examination) -> Facts:
    if examination.lab is None:
        return {}
    control = examination.lab.from_start([CONTROL], STEPS)[CONTROL.name]
    return examination.place(control.rows[0].get("site")) if control.rows else {}
