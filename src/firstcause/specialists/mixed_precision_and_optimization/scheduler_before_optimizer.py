"""scheduler-before-optimizer: a schedule is stepped before its optimizer ever was, and its first rate is never used."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import gains
from firstcause.specialists.audits import audit
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "scheduler-before-optimizer"
LATER = Arm("the schedule without the call before the first step", "schedule_clock", {"first": False})
# A rate that is skipped for one as good as it harms nobody.
CHANGED = 0.01


def _skipping(found: Ran) -> Facts:
    for one in found.facts.get("schedules") or []:
        first, then = (*one["first_rates"], 0.0, 0.0)[:2]
        if one["early"] and one["steps"] and first > 0 and abs(then - first) > CHANGED * first:
            return dict(one)
    return {}


def _told(one: Facts) -> str:
    first, then = one["first_rates"][:2]
    return (
        f"{one['class']} is stepped before the optimizer's first step: the rate {first:.3g} is never used, "
        f"{then:.3g} is the first of {one['steps']} steps"
    )


def _settled(cause: str, examination: Examination, one: Facts) -> Hypothesis:
    later, found = gains.changed(examination, LATER), audit(examination)
    if later is None or found is None:
        return inconclusive(cause, f"the same training without that call: {_told(one)}")
    site = examination.site(one["site"])
    text = f"{_told(one)}; with each rate one call later, {gains.ends(later, found)}"
    if not gains.gained(later, found):
        # Torch warns of this very order: what the schedule was asked for and what the steps got are two things.
        return confirmed(cause, site, Evidence("observation", True, text, _values(one), site))
    return confirmed(cause, site, Evidence("counterfactual", True, text, _values(one), site))


def _values(one: Facts) -> Facts:
    return {k: one[k] for k in ("class", "calls", "steps", "first_rates", "rates")}


def _known(examination: Examination, one: Facts) -> Facts:
    return {"call": examination.place(one["site"])}


_FORM = Silent(
    CAUSE, _skipping, _told, _settled, _known, "an audit in which a schedule is stepped before its optimizer"
)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
