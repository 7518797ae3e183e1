"""forward-hooks-never-removed: one statement registers hooks on the same module again and again, and they all stay."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed

CAUSE = "forward-hooks-never-removed"


def _pile(found: Ran) -> Facts:
    piles: list[Facts] = found.facts.get("hooks") or []
    return max(piles, key=lambda p: int(p["stay"]), default={})


def _told(pile: Facts) -> str:
    return (
        f"{pile['method']} was called {pile['registered']} times from one line, and {pile['stay']} of these hooks are still "
        f"there, up to {pile['most']} on one object"
    )


def _settled(cause: str, examination: Examination, pile: Facts) -> Hypothesis:
    site = examination.site(pile["site"])
    text = f"{_told(pile)}, each called at every pass (registered at {site})"
    values = {k: pile[k] for k in ("registered", "stay", "objects", "most")}
    return confirmed(cause, site, Evidence("observation", True, text, values, site))


def _known(examination: Examination, pile: Facts) -> Facts:
    return examination.place(pile["site"]) | {"callers": [examination.place(c) for c in pile["callers"]]}


_FORM = Silent(CAUSE, _pile, _told, _settled, _known, "an audit of the training in which hooks pile up")
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts
