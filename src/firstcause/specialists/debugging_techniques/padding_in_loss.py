"""padding-in-loss: places that only fill sequences up to one length get a gradient from the loss."""

from __future__ import annotations

import ast

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits, shifts
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import mean
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "padding-in-loss"
# The share of the places that is padding, that of them with a gradient, and how far the two means must lie apart.
LEAST_SHARE, COUNTED, APART = 0.05, 0.95, 0.1
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
    if one is None:
        return inconclusive(CAUSE, "padded places that the loss gives a gradient to")
    site = examination.site(one["site"])
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
    whole, real = _ends(one)
    if abs(real - whole) <= APART * max(abs(real), abs(whole)):
        return None
    knows = one["padding_idx"] is not None or found.facts.get("pads") or shifts.says(examination, KNOWN)
    return one if knows and not _ends_by_padding(examination) else None


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
