"""bf16-rounding: what bfloat16 rounds away: an epsilon, so that a later op meets exactly 0, or the updates themselves."""

from __future__ import annotations

import math

from firstcause.lab.counterfactual import CONTROL, Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.births import again_in_float32, settle_by_root
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end, further, mean, steadily_further
from firstcause.specialists.shifts import says
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "bf16-rounding"
WIDE = Arm("the same steps on float32 copies of the weights", "master_weights")
STEPS = 60
# From the middle of the run: what each step adds to the difference is small there.
LATER_STEPS = 240
# A statement that adds to bfloat16 so often, to so many values, and of which no more than this share arrives.
UPDATES, ELEMENTS, KEPT = 20, 8, 0.5
# Code that makes up for what is rounded away.
MEANT = r"kahan|compensat|stochastic.?round"


def seen(found: Ran, examination: Examination) -> str | None:
    one = _rounded_away(found)
    if one is not None and not says(examination, MEANT):
        return _told_of(one)
    share = audits.stuck(found)
    if share is None:
        return None
    return f"{100 * share:.0f} % of the bfloat16 weights with a gradient stayed as they were at each step"


def propose(examination: Examination) -> bool:
    if examination.symptom.kind == "no-learning":
        return True
    audited = audits.audit(examination)
    if audited is not None:
        return audits.stuck(audited) is not None or _rounded_away(audited) is not None
    root = examination.root
    return root is not None and (root.get("wider") or {}).get("half") == "bfloat16"


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    one = _of_an_average(examination)
    if one is not None:
        site = examination.site(one["site"])
        values = {k: one[k] for k in ("wanted", "kept", "times", "tensors", "elements")}
        return confirmed(CAUSE, site, Evidence("experiment", True, _told_of(one), values, site))
    if _of_the_training(examination):
        return _updates(examination)
    root = examination.root
    matches = root is not None and rounded(root)
    if not matches or root is None:
        why = "the ops before the first bad value give the same in float32"
        return settle_by_root(hypothesis, examination, False, why)
    value = again_in_float32(root, "together")
    why = f"with the ops before it in float32, {root['op']} gives {value:g} there: bfloat16 rounded away what keeps it finite"
    return settle_by_root(hypothesis, examination, True, why)


def _of_an_average(examination: Examination) -> Facts | None:
    found = audits.audit(examination)
    one = _rounded_away(found) if found is not None else None
    return one if one is not None and not says(examination, MEANT) else None


def _rounded_away(found: Ran) -> Facts | None:
    """The statement that adds little by little to tensors in bfloat16, and most of whose additions are lost."""
    of: list[Facts] = [
        one
        for one in found.facts.get("rounded") or []
        if one["times"] >= UPDATES and one["elements"] >= ELEMENTS and one["kept"] <= KEPT * one["wanted"]
    ]
    return max(of, key=lambda one: one["wanted"] - one["kept"], default=None)


def _told_of(one: Facts) -> str:
    return (
        f"{one['times']} updates of {one['elements']} values in bfloat16 were to change them by {one['wanted']:.3g} in all, and "
        f"changed them by {one['kept']:.3g}: each is less than bfloat16 tells apart, and is rounded away"
    )


def rounded(root: Facts) -> bool:
    """Whether a birth in bfloat16 is none when the ops before it are done in float32."""
    wider = root.get("wider") or {}
    together = again_in_float32(root, "together")
    if wider.get("half") != "bfloat16" or together is None or not math.isfinite(together):
        return False
    alone = again_in_float32(root, "alone")
    # An op that is finite by itself in float32 has left the range of bfloat16, which is that of float32.
    return alone is None or not math.isfinite(alone)


def _of_the_training(examination: Examination) -> bool:
    return examination.symptom.kind == "no-learning" or audits.audit(examination) is not None


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
    if "bfloat16" not in kinds or lost < audits.LOST:
        text = _told(kinds, lost)
        return refuted(CAUSE, Evidence("observation", False, text, {"stuck": lost}))
    halfway = len(examination.rows) // 2
    # Large gradients at the start get through the rounding; what it stops is the rest of the way.
    for steps, after in ((STEPS, 0), (LATER_STEPS, halfway)):
        arms = examination.lab.from_start([CONTROL, WIDE], steps, after)
        narrow, wide = arms[CONTROL.name], arms[WIDE.name]
        if further(wide, narrow) or steadily_further(wide, narrow):
            return _confirmed(examination, kinds, narrow, wide, after)
        if halfway < STEPS:
            break
    missing = f"{_told(kinds, lost)}; whether that holds the loss: with float32 copies it did not come further either"
    return inconclusive(CAUSE, missing)


def _told(kinds: list[str], lost: float) -> str:
    return f"of the weights ({', '.join(kinds)}) that had a gradient, {100 * lost:.0f} % stayed as they were at each step"


def _confirmed(examination: Examination, kinds: list[str], control: Ran, wide: Ran, after: int) -> Hypothesis:
    lost = mean(control.column("stuck"))
    start = f" from step {after}" if after else ""
    text = f"{_told(kinds, lost)}; with float32 copies the loss comes to {end(wide):.4g} instead of {end(control):.4g} "
    text += f"in {len(wide.losses)} steps{start}"
    values = {"stuck": lost, "end": end(control), "end_float32": end(wide)}
    site = examination.site(control.rows[0].get("step_site"))
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def facts(examination: Examination) -> Facts:
    one = _of_an_average(examination)
    if one is not None:
        return examination.place(one["site"]) | {"updates": True, "average": True}
    if _of_the_training(examination) and examination.lab is not None:
        rows = examination.lab.from_start([CONTROL], STEPS)[CONTROL.name].rows
        return examination.place(rows[0].get("step_site")) | {"updates": True} if rows else {}
    root = examination.root or {}
    return examination.place(root.get("site")) | {"dtype": "bfloat16"}
