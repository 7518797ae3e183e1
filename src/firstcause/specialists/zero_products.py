"""Two factors that both begin at zero: neither gets a gradient through the other, and their product stays as it began."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.source.zeroed import zeroed
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

LEAST_STEPS = 20
REFILLED = Arm(
    "the first factor drawn as torch draws a layer's",
    "audit",
    {"watch": ["factors_of_zero"], "refill": True},
)


def shown(found: Ran) -> Facts | None:
    """The class of modules of which two weights stayed at zero; None where there is none."""
    of: list[Facts] = [z for z in found.facts.get("zeros") or [] if z["steps"] >= LEAST_STEPS]
    return of[0] | {"modules": len(of)} if of else None


def told(one: Facts) -> str:
    return (
        f"{' and '.join(one['names'])} of {one['class']} begin at zero, and the gradient of each was zero in all of "
        f"{one['steps']} steps: they are multiplied with each other, and neither moves while the other one is zero"
    )


def settled(cause: str, examination: Examination) -> Hypothesis | None:
    """Whether the training comes further with the first factor drawn at random; None where nothing shows it."""
    found = audits.audit(examination)
    one = shown(found) if found is not None else None
    if found is None or one is None:
        return None
    arm = gains.changed(examination, REFILLED)
    if arm is None or not arm.losses:
        return inconclusive(cause, f"the same training with the first factor drawn at random: {told(one)}")
    text = f"{told(one)}; with {one['names'][0]} drawn at random, {gains.ends(arm, found)}"
    if not gains.gained(arm, found):
        return inconclusive(cause, f"a gain: {text}")
    place = zeroed(examination.project, one["class"], one["names"][0]) if examination.project else None
    site = place[0].site(place[1]) if place is not None else None
    values = {k: one[k] for k in ("class", "names", "steps", "modules")}
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
