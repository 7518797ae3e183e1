"""loss-history-keeps-graph: losses or outputs are kept with their graph, so that every step's graph stays."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.specialists import growth
from firstcause.specialists.examination import Facts

CAUSE = "loss-history-keeps-graph"


def _mine(found: Ran) -> Facts:
    seen = growth.growth(found)
    if not seen or growth.belongs_elsewhere(seen, found):
        return {}
    return seen if seen["kind"] == "graph" and not growth.is_state(seen) else {}


_FORM = growth.form(CAUSE, _mine)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
