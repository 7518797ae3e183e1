"""forward-hooks-never-removed: one statement registers hooks on the same module again and again, and they all stay."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "forward-hooks-never-removed"


def seen(found: Ran, examination: Examination) -> str | None:
    pile = _pile(found)
    if not pile:
        return None
    return (
        f"{pile['method']} was called {pile['registered']} times from one line, and {pile['stay']} of these hooks are still "
        f"there, up to {pile['most']} on one object"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and bool(_pile(found))


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    pile = _pile(found) if found is not None else {}
    if found is None or not pile:
        return inconclusive(CAUSE, "an audit of the training in which hooks pile up")
    site = examination.site(pile["site"])
    text = f"{seen(found, examination)}, each called at every pass (registered at {site})"
    values = {k: pile[k] for k in ("registered", "stay", "objects", "most")}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    pile = _pile(found) if found is not None else {}
    return examination.place(pile["site"]) if pile else {}


def _pile(found: Ran) -> Facts:
    piles: list[Facts] = found.facts.get("hooks") or []
    return max(piles, key=lambda p: int(p["stay"]), default={})
