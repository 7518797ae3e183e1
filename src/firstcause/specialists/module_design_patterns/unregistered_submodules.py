"""unregistered-submodules: modules in a plain list or dict run in training and are no part of the model."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import audits, left_out
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import inconclusive

CAUSE = "unregistered-submodules"


def seen(found: Ran, examination: Examination) -> str | None:
    inside = left_out.unregistered(found)
    meant = inside and left_out.is_meant(examination, left_out.names_of(found, left_out.HIDDEN))
    return _told(found, inside[0]) if inside and not meant else None


def _told(found: Ran, first: Facts) -> str:
    owner, attribute = first["container"] or (first["inside"], "")
    where = f"{owner}.{attribute} keeps it" if attribute else f"it runs inside of {owner}"
    return f"{left_out.told(found)}; {where}, and the model has not registered it"


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and seen(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    told = seen(found, examination) if found is not None else None
    if found is None or told is None:
        return inconclusive(CAUSE, "a module that runs and that the model has not registered")
    return left_out.settle(CAUSE, examination, found, told)


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    kept = (
        [p["container"] for p in left_out.unregistered(found) if p["container"]] if found is not None else []
    )
    return {"class_name": kept[0][0], "attribute": kept[0][1]} if kept else {}
