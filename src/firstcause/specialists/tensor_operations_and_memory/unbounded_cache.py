"""unbounded-cache: a container of tensors grows without bound, and the training reads none of them."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.specialists import growth
from firstcause.specialists.examination import Facts

CAUSE = "unbounded-cache"


def _mine(found: Ran) -> Facts:
    seen = growth.growth(found)
    if not seen or growth.belongs_elsewhere(seen, found):
        return {}
    return seen if seen["kind"] in ("tensors", "host") and not seen["bounded"] else {}


_FORM = growth.form(CAUSE, _mine)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
