"""label-mismatch: with inputs and targets kept together at one statement, and nothing else changed, the training learns."""

from __future__ import annotations

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.source.pairing import Parting, Rewrite, partings
from firstcause.source.rewrites import statements_of
from firstcause.specialists import audits, shifts
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.losses import end, further, mean
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "label-mismatch"
# How far the loss must come down, beside what it comes to as it is: pairs that do not belong together teach next to nothing.
BETTER = 0.8
# Each way to write a place otherwise is one more run of the program.
MOST_PLACES, MOST_RUNS = 4, 6
# Words of a program that parts pairs on purpose, or wants the target of another time.
MEANT = (
    r"permut\w*.?(test|import|null)|null.?(model|distribution)|(random|shuffled?|noisy).?labels?|label.?noise|memori[sz]|"
    r"mutual.?inf|contrastive|negative.?(sampl|pair)|chance.?level|sanity.?check|forecast|horizon|look.?ahead|next.?(step|token)"
)


def seen(found: Ran, examination: Examination) -> str | None:
    places = _places(examination)
    return places[0].words if places else None


def propose(examination: Examination) -> bool:
    return audits.audit(examination) is not None and bool(_places(examination))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if audits.audit(examination) is None or not _places(examination):
        return inconclusive(CAUSE, "a statement that gives inputs another order than their targets")
    kept: Hypothesis = examination.once(f"{CAUSE} settled", lambda: _settled(examination))
    return kept


def _settled(examination: Examination) -> Hypothesis:
    control, lab, places = audits.audit(examination), examination.lab, _places(examination)
    if control is None or lab is None:
        return inconclusive(CAUSE, "the training, run again")
    if not control.finite or not control.losses or not end(control) > 0:
        return inconclusive(CAUSE, f"{places[0].words}; a training whose loss can be compared")
    runs = 0
    missing = "a training that learns once they are kept together"
    for place in places:
        for way in place.ways:
            if runs == MOST_RUNS:
                break
            runs += 1
            changed = lab.rewritten(Arm("kept together"), lab.horizon(audits.STEPS), statements_of(way))
            if not changed.losses:
                missing = f"the training with them kept together: {changed.why or _raised(changed)}"
            elif _learns(changed, control):
                return _proven(examination, place, way, changed, control)
            else:
                missing = f"with them kept together, the loss comes to {end(changed):.4g} instead of {end(control):.4g}"
    return inconclusive(CAUSE, f"{places[0].words}; {missing}")


def _proven(
    examination: Examination, place: Parting, way: tuple[Rewrite, ...], changed: Ran, control: Ran
) -> Hypothesis:
    site = place.module.site(place.statement)
    examination.memory[f"{CAUSE} way"] = (place, way)
    text = (
        f"{place.words}; with both kept together there, and nothing else changed, the loss comes to "
        f"{end(changed):.4g} instead of {end(control):.4g} in {len(changed.losses)} steps"
    )
    values = {"together": end(changed), "apart": end(control), "steps": len(changed.losses)}
    return confirmed(CAUSE, site, Evidence("experiment", True, text, values, site))


def _learns(changed: Ran, control: Ran) -> bool:
    """Whether the loss comes down further in the end, or over the whole training where both end at nothing."""
    if not changed.finite or len(changed.losses) < 5:
        return False
    at_end = end(changed) <= BETTER * end(control) and further(changed, control)
    on_the_way = mean(changed.losses) <= BETTER * mean(control.losses)
    return at_end or (on_the_way and end(changed) <= end(control))


def _places(examination: Examination) -> list[Parting]:
    return examination.once(f"{CAUSE} places", lambda: _found(examination))


def _found(examination: Examination) -> list[Parting]:
    if examination.project is None or shifts.says(examination, MEANT):
        return []
    modules = examination.project.modules
    return [p for m in modules for p in partings(m, modules)][:MOST_PLACES]


def _raised(ran: Ran) -> str:
    raised = ran.exception or {}
    return f"{raised.get('type')}: {raised.get('message')}" if raised else f"it ended by {ran.ended}"


def facts(examination: Examination) -> Facts:
    proven: tuple[Parting, tuple[Rewrite, ...]] | None = examination.memory.get(f"{CAUSE} way")
    if proven is None:
        return {}
    place, way = proven
    return {"file": place.module.path, "line": place.statement.lineno, "edits": statements_of(way)}
