"""A loss that wants two values apart by a margin and never leaves it: learned with the two exchanged, it falls."""

from __future__ import annotations

import statistics

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

LEAST_STEPS = 20
# A loss of this share of the margin has not begun to tell the two apart; with the two exchanged it must fall below the other.
STILL, LEARNED = 0.9, 0.6


def stuck(found: Ran) -> Facts | None:
    """The one margin of a training that its loss stands at to the end; None where there is none."""
    of: list[Facts] = found.facts.get("margins") or []
    values = found.column("margin")
    if len(of) != 1 or len(values) < LEAST_STEPS or not found.finite:
        return None
    return of[0] if audits.end_of(found, "margin") >= STILL * of[0]["level"] else None


def told(one: Facts, found: Ran) -> str:
    return (
        f"the loss of two distances or scores, {one['function']} of their difference and a margin, stands at "
        f"{audits.end_of(found, 'margin'):.4g} after {len(found.column('margin'))} steps, and is {one['level']:.4g} where "
        "the two are equal"
    )


def settle(hypothesis: Hypothesis, examination: Examination, found: Ran, one: Facts) -> Hypothesis:
    """Confirmed where the same steps with the two exchanged bring that loss well below the margin."""
    site = examination.site(one["site"])
    lab = examination.lab
    settings = {
        "watch": ["margins_of_losses"],
        "exchanged": [[one["site"]["file"], one["site"]["line"]]],
    }
    arm = Arm("the two values of the margin exchanged", "audit", settings)
    if lab is None:
        return inconclusive(hypothesis.cause, "a training that may be run again")
    other = lab.from_start([arm], lab.horizon(audits.STEPS))[arm.name]
    values = other.column("margin_exchanged")
    if not other.finite or len(values) < LEAST_STEPS:
        return inconclusive(
            hypothesis.cause, "the same training with the two values exchanged: it was not seen"
        )
    end, first = audits.end_of(other, "margin_exchanged"), statistics.fmean(values[:3])
    text = (
        f"{told(one, found)}; with the two exchanged at {site} and nothing else, it goes from {first:.4g} to {end:.4g} in as "
        "many steps"
    )
    if end > LEARNED * one["level"] or end > LEARNED * max(first, one["level"]):
        return inconclusive(hypothesis.cause, f"{text}: no clear gain")
    figures = {"level": one["level"], "end": audits.end_of(found, "margin"), "end_exchanged": end}
    return confirmed(hypothesis.cause, site, Evidence("counterfactual", True, text, figures, site))


def facts(examination: Examination, one: Facts) -> Facts:
    """The place of the comparison, as ``fix/patches/wrong_sign_loss`` reads it."""
    return examination.place(one["site"]) | {
        "kind": "margin",
        "maximised": False,
        "lines": [one["site"]["line"]],
        "numbers": one["numbers"],
    }
