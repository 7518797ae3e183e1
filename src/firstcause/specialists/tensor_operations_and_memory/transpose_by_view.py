"""transpose-by-view: a view puts axes in another order and leaves the elements; moved along, the training comes further."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "transpose-by-view"
# How much smaller the loss has to become with the elements moved, in parts of what it is.
GAIN = 0.1


def seen(found: Ran, examination: Examination) -> str | None:
    one = _swapped(found)
    return _told(one) if one is not None else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and _swapped(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = _swapped(found) if found is not None else None
    if found is None or one is None or examination.lab is None:
        return inconclusive(CAUSE, "a view that gives axes another order")
    site = examination.site(one["site"])
    settings = {"watch": ["axes_swapped"], "laid_out": [[one["site"]["file"], one["site"]["line"]]]}
    arm = Arm("elements moved with their axes", "audit", settings)
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    then, now = end(found), end(other)
    text = (
        f"{_told(one)}, at {site}; with the elements moved along, the loss comes to {now:.4g} instead of {then:.4g} in "
        f"{len(other.rows)} steps"
    )
    values = {"before": one["before"], "after": one["after"], "loss": then, "loss_moved": now}
    if not other.finite or not then - now >= GAIN * abs(then):
        return inconclusive(CAUSE, f"{text}: no clear gain")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _swapped(found: Ran) -> Facts | None:
    of: list[Facts] = found.facts.get("swapped") or []
    # What the model makes itself before what it is given.
    return next((s for s in of if s["trained"]), of[0] if of else None)


def _told(one: Facts) -> str:
    return (
        f"{one['function']} makes {one['after']} of {one['before']}: axes change their places, and elements stay in theirs, so "
        "that they are mixed"
    )


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = _swapped(found) if found is not None else None
    if one is None:
        return {}
    return examination.place(one["site"]) | {
        k: one[k] for k in ("function", "before", "after", "which", "order")
    }
