"""padding-in-loss: places that only fill sequences up to one length get a gradient from the loss."""

from __future__ import annotations

import ast
import math

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, shifts
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import mean
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "padding-in-loss"
# The share of the places that is padding, that of them with a gradient, and how far the two means must lie apart.
LEAST_SHARE, COUNTED, APART = 0.05, 0.95, 0.1
# What the loss over the real places comes to at most, of what it was, where the padding was what kept it up.
MET = 0.75
# Words of a program that knows of its padding.
KNOWN = r"pad|mask|length|\blens?\b"


def seen(found: Ran, examination: Examination) -> str | None:
    one = _counted(found, examination)
    return _told(one) if one is not None else None


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and _counted(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = _counted(found, examination) if found is not None else None
    if one is None or found is None:
        return inconclusive(CAUSE, "padded places that the loss gives a gradient to")
    site = examination.site(one["site"])
    # Values that end in zeros may be meant: only the experiment tells then.
    if one["alone"] or not _apart(one):
        return _without(examination, found, one)
    whole, real = _ends(one)
    text = f"{_told(one)}, at {site}; at the end the mean over all places is {whole:.4g}, over the real ones {real:.4g}"
    values = {"padded": one["padded"] / one["places"], "counted": one["counted"] / one["padded"]}
    values |= {"mean": whole, "mean_of_real": real}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))


def _counted(found: Ran, examination: Examination) -> Facts | None:
    of: list[Facts] = [p for p in found.facts.get("padding") or [] if p["padded"] and p["all"]]
    one = next((p for p in of if p["counted"] >= COUNTED * p["padded"]), None)
    if one is None or one["padded"] < LEAST_SHARE * one["places"]:
        return None
    if one["classes"] and not _apart(one):
        return None
    knows = one["padding_idx"] is not None or found.facts.get("pads") or shifts.says(examination, KNOWN)
    return one if knows and not _ends_by_padding(examination) else None


def _apart(one: Facts) -> bool:
    """Whether padded places are so much easier, or harder, than the others that the mean says something else."""
    whole, real = _ends(one)
    return abs(real - whole) > APART * max(abs(real), abs(whole))


def _without(examination: Examination, found: Ran, one: Facts) -> Hypothesis:
    """Where a network is as far off here as there: whether the real places are met once the others have no gradient."""
    site = examination.site(one["site"])
    if examination.lab is None:
        return inconclusive(CAUSE, "the same training without the padded places: diagnose with --yes")
    settings = {"watch": ["padding_counted"], "left_out": True}
    arm = Arm("padded places left out of the loss", "audit", settings)
    other = examination.lab.from_start([arm], examination.lab.horizon(audits.STEPS))[arm.name]
    seen_there: list[Facts] = [p for p in other.facts.get("padding") or [] if p["real"]]
    beside = next((p for p in seen_there if p["site"] == one["site"]), None)
    then, now = _ends(one)[1], _ends(beside)[1] if beside is not None else math.nan
    text = (
        f"{_told(one)}, at {site}; over the real places the loss ends at {then:.4g}, and at {now:.4g} where the others "
        "get no gradient"
    )
    values = {"padded": one["padded"] / one["places"], "counted": one["counted"] / one["padded"]}
    values |= {"mean_of_real": then, "mean_of_real_without": now}
    if not other.finite or not now <= MET * then:
        return inconclusive(CAUSE, f"{text}: no clear gain")
    return confirmed(CAUSE, site, Evidence("counterfactual", True, text, values, site))


def _ends(one: Facts) -> tuple[float, float]:
    """The mean of the loss's last third over all places, and over those that are no padding."""
    third = max(1, len(one["all"]) // 3)
    return mean(one["all"][-third:]), mean(one["real"][-third:])


def _ends_by_padding(examination: Examination) -> bool:
    """Whether the program stops generating at the padding token: then it has to be learned."""
    tests = [
        n.test
        for m in (examination.project.modules if examination.project is not None else ())
        for n in m.nodes(ast.If)
        if any(isinstance(s, ast.Break | ast.Return) for s in n.body)
    ]
    names = [
        n.id if isinstance(n, ast.Name) else n.attr
        for t in tests
        for n in ast.walk(t)
        if isinstance(n, ast.Name | ast.Attribute)
    ]
    return any("pad" in name.lower() for name in names)


def _told(one: Facts) -> str:
    return (
        f"{one['padded']} of {one['places']} places that {one['loss']} compares only fill sequences up to one length, and "
        f"{one['counted']} of them get a gradient"
    )


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = _counted(found, examination) if found is not None else None
    if one is None:
        return {}
    return examination.place(one["site"]) | {
        k: one[k] for k in ("loss", "marker", "only", "classes", "known_as")
    }
