"""accidentally-shared-parameters: one module object stands at several places of a model that were meant to differ."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.source.repeated_modules import find_repeated
from firstcause.specialists import audits, gains
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "accidentally-shared-parameters"
APART = Arm("a module of its own at each place", "train_also", {"apart": "containers"})


def shared(found: Ran, examination: Examination) -> Facts | None:
    """The object that the source repeats and the model has at several places; None where there is none."""
    project = examination.project
    for one in found.facts.get("shared") or []:
        if project is not None and len(find_repeated(project, one["class"], _is_idle(one))) == 1:
            return dict(one)
    return None


def _is_idle(one: Facts) -> bool:
    """Whether each of its places gives what the first one gave, for the same input: shared weights are meant by nobody so."""
    others = len(one["paths"]) - 1
    return bool(one.get("same")) and one["same"] * len(one["paths"]) >= one["runs"] * others


def seen(found: Ran, examination: Examination) -> str | None:
    one = shared(found, examination)
    return _told(one) if one is not None else None


def _told(one: Facts) -> str:
    text = f"{', '.join(one['paths'])} of {one['owner']} are one {one['class']} object, with one set of parameters"
    idle = (
        f"; it is given the same tensor at each and gives the same {one['same']} times again"
        if _is_idle(one)
        else ""
    )
    return f"{text}{idle}"


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and shared(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = shared(found, examination) if found is not None else None
    apart = gains.changed(examination, APART) if one is not None else None
    if found is None or one is None or apart is None:
        return inconclusive(CAUSE, "one module object at several places")
    text = f"{_told(one)}; with a copy at each place, trained too, {gains.ends(apart, found)}"
    values = {"paths": one["paths"], "class": one["class"], "elements": apart.facts.get("added")}
    if not apart.facts.get("copies") or not gains.gained(apart, found):
        return inconclusive(CAUSE, f"a gain: {text}")
    return confirmed(CAUSE, None, Evidence("counterfactual", True, text, values, None))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = shared(found, examination) if found is not None else None
    return {"class_name": one["class"], "even_meant": _is_idle(one)} if one is not None else {}
