"""transpose-by-view: a view puts axes in another order and leaves the elements; moved along, the training comes further."""

from __future__ import annotations

import os

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end
from firstcause.specialists.moved_along import moved, swapped
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "transpose-by-view"
# How much smaller the loss has to become with the elements moved, in parts of what it is.
GAIN = 0.1


def seen(found: Ran, examination: Examination) -> str | None:
    one = _swapped(found)
    return _told(one) if one is not None else None


def propose(examination: Examination) -> bool:
    if swapped(examination) is not None:
        return True
    found = audits.audit(examination)
    return found is not None and _swapped(found) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if swapped(examination) is not None:
        return _of_ids(examination)
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


def _of_ids(examination: Examination) -> Hypothesis:
    """Whether ids that a table refuses are all in it once the elements of a view before have moved along."""
    found = moved(examination)
    if found is None:
        return inconclusive(
            CAUSE, "the program again with the elements of the view moved along: diagnose with --yes"
        )
    site = examination.site(found.view["site"])
    index = (examination.refused or {})["index"]
    text = (
        f"{_told(found.view)}, at {site}: {index['outside']} of {index['total']} ids are none of the table's {index['rows']} "
        f"rows; with the elements moved along, "
    )
    values = {"before": found.view["before"], "after": found.view["after"], "outside": index["outside"]}
    if not found.passes:
        return refuted(
            CAUSE, Evidence("counterfactual", False, f"{text}the program fails as before", values, site)
        )
    return confirmed(CAUSE, site, Evidence("counterfactual", True, f"{text}none is refused", values, site))


def _swapped(found: Ran) -> Facts | None:
    # What was merged and is not trained may be meant as it is: targets that are taken apart alike, or not at all.
    of: list[Facts] = [s for s in found.facts.get("swapped") or [] if s["trained"] or not s.get("merged")]
    # What the model makes itself before what it is given.
    return next((s for s in of if s["trained"]), of[0] if of else None)


def _told(one: Facts) -> str:
    if one.get("merged"):
        joined = one["joined"]
        place = f"{os.path.basename(joined['file'])}:{joined['line']}"
        count = len(one["merged"])
        return (
            f"the {one['before'][0]} rows that were {one['merged']} at {place} are taken apart by {one['function']} as "
            f"{one['after'][:count]}: rows stay in their places, so that those of different samples are put together"
        )
    return (
        f"{one['function']} makes {one['after']} of {one['before']}: axes change their places, and elements stay in theirs, so "
        "that they are mixed"
    )


def facts(examination: Examination) -> Facts:
    of_ids = moved(examination)
    if of_ids is not None:
        return _placed(examination, of_ids.view)
    found = audits.audit(examination)
    one = _swapped(found) if found is not None else None
    if one is None:
        return {}
    return _placed(examination, one)


def _placed(examination: Examination, one: Facts) -> Facts:
    return examination.place(one["site"]) | {
        k: one[k] for k in ("function", "before", "after", "which", "order", "merged") if k in one
    }
