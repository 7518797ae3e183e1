"""optimizer-before-params-replaced: the optimizer holds what a module had before, and not what it has now."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import audits, left_out
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import inconclusive

CAUSE = "optimizer-before-params-replaced"


def seen(found: Ran, examination: Examination) -> str | None:
    if not left_out.replaced(found) or left_out.unregistered(found):
        return None
    return _told(found)


def _told(found: Ran) -> str:
    return f"{left_out.told(found)}, and the optimizer holds {found.facts['of_no_module']} that no module has any more"


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and seen(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    if found is None or seen(found, examination) is None:
        return inconclusive(CAUSE, "parameters of the optimizer that no module has any more")
    return left_out.settle(CAUSE, examination, found, _told(found))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    if found is None:
        return {}
    return {"missing": [{k: p[k] for k in ("name", "root", "class")} for p in left_out.missing(found)]}
