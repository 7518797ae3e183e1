"""step-counter-not-restored: a resumed training repeats or leaves out steps, or counts from the start again."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import positions, resumes
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent

CAUSE = "step-counter-not-restored"


def _mine(found: Ran) -> Facts:
    event = positions.misplaced(found)
    # Learning rates that start anew are those of a counter that does, where one is seen.
    return resumes.lacking(found, "counter") or event if not event or "rates" in event else event


def _told(event: Facts) -> str:
    return resumes.told(event, "counter") if "part" in event else positions.told(event)


def _settled(cause: str, examination: Examination, event: Facts) -> Hypothesis:
    if "part" in event:
        return resumes.settle(cause, "counter", examination, event)
    return positions.settle(cause, examination, event)


def _known(examination: Examination, event: Facts) -> Facts:
    return resumes.facts(examination, event) if "part" in event else positions.facts(examination, event)


_FORM = Silent(
    CAUSE, _mine, _told, _settled, _known, "an audit in which a training is resumed", resumes.watched
)
seen, propose, settle, facts, alone = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts, resumes.watched
