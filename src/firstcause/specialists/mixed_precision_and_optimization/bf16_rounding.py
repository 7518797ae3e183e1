"""bf16-rounding: what bfloat16 rounds away: an epsilon, so that a later op meets exactly 0, or the updates themselves."""

from __future__ import annotations

import math

from firstcause.lab.counterfactual import CONTROL, Arm
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.births import again_in_float32, settle_by_root
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end, further, mean
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "bf16-rounding"
WIDE = Arm("the same steps on float32 copies of the weights", "master_weights")
STEPS = 60
# The share of the elements with a gradient that a step leaves as they are.
LOST = 0.5


def propose(examination: Examination) -> bool:
    if examination.symptom.kind == "no-learning":
        return True
    root = examination.root
    return root is not None and (root.get("wider") or {}).get("half") == "bfloat16"


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if examination.symptom.kind == "no-learning":
        return _updates(examination)
    root = examination.root
    matches = root is not None and rounded(root)
    if not matches or root is None:
        why = "the ops before the first bad value give the same in float32"
        return settle_by_root(hypothesis, examination, False, why)
    value = again_in_float32(root, "together")
    why = f"with the ops before it in float32, {root['op']} gives {value:g} there: bfloat16 rounded away what keeps it finite"
    return settle_by_root(hypothesis, examination, True, why)


def rounded(root: Facts) -> bool:
    """Whether a birth in bfloat16 is none when the ops before it are done in float32."""
    wider = root.get("wider") or {}
    together = again_in_float32(root, "together")
    if wider.get("half") != "bfloat16" or together is None or not math.isfinite(together):
        return False
    alone = again_in_float32(root, "alone")
    # An op that is finite by itself in float32 has left the range of bfloat16, which is that of float32.
    return alone is None or not math.isfinite(alone)


def _updates(examination: Examination) -> Hypothesis:
    """Whether weights in half precision stand still because their updates are rounded away."""
    if examination.lab is None:
        missing = "the first steps again on float32 copies of the weights: diagnose with --yes"
        return inconclusive(CAUSE, missing)
    control = examination.lab.from_start([CONTROL], STEPS)[CONTROL.name]
    if control.ended == "lost" or not control.rows:
        return inconclusive(CAUSE, control.why or "no step was seen")
    kinds = sorted({k for r in control.rows for k in r.get("dtypes") or ()})
    lost = mean(control.column("stuck"))
    text = f"of the weights ({', '.join(kinds)}) that had a gradient, {100 * lost:.0f} % stayed as they were at each step"
    if "bfloat16" not in kinds or lost < LOST:
        return refuted(CAUSE, Evidence("observation", False, text, {"stuck": lost}))
    wide = examination.lab.from_start([WIDE], STEPS)[WIDE.name]
    if not further(wide, control):
        missing = f"{text}; whether that holds the loss: with float32 copies it did not come further either"
        return inconclusive(CAUSE, missing)
    text += f"; with float32 copies the loss comes to {end(wide):.4g} instead of {end(control):.4g} in {len(wide.losses)} steps"
    values = {"stuck": lost, "end": end(control), "end_float32": end(wide)}
    site = examination.site(control.rows[0].get("step_site"))
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def facts(examination: Examination) -> Facts:
    if examination.symptom.kind == "no-learning" and examination.lab is not None:
        rows = examination.lab.from_start([CONTROL], STEPS)[CONTROL.name].rows
        return examination.place(rows[0].get("step_site")) | {"updates": True} if rows else {}
    root = examination.root or {}
    return examination.place(root.get("site")) | {"dtype": "bfloat16"}
