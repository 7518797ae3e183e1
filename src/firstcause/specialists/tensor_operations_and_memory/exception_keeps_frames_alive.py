"""exception-keeps-frames-alive: kept exceptions hold the frames of their tracebacks, and those the tensors."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.specialists import growth
from firstcause.specialists.examination import Facts

CAUSE = "exception-keeps-frames-alive"


def _mine(found: Ran) -> Facts:
    seen = growth.growth(found)
    return seen if seen and seen["exception"] else {}


_FORM = growth.form(CAUSE, _mine)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
