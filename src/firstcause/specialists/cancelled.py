"""Errors that are averaged before they are squared: those of opposite sign cancel, and the loss says nothing of each."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

ALWAYS = 0.95
# How small the mean square of the errors has to become with the square first, in parts of what it is without.
BETTER = 0.8


def averaged(found: Ran) -> Facts | None:
    """The one average of errors whose size is the whole loss of each backward call."""
    of: list[Facts] = found.facts.get("averaged") or []
    return next((a for a in of if a["used"] and a["whole_loss"] >= ALWAYS * a["backwards"] > 0), None)


def told(one: Facts) -> str:
    shape = " x ".join(str(n) for n in one["shape"])
    return (
        f"the {one['function']} over {shape} errors is taken before their size: those of opposite sign cancel, and only "
        f"{one['left']} of them are left"
    )


def settle(cause: str, examination: Examination, found: Ran, one: Facts) -> Hypothesis:
    """Whether each prediction comes nearer to its target where its error is squared first."""
    assert examination.lab is not None
    site = examination.site(one["site"])
    place = [one["site"]["file"], one["site"]["line"]]
    settings = {"watch": ["errors_averaged"], "squared": [place]}
    name = "each error squared before the mean"
    _, then, now = audits.beside(examination.lab, found, name, settings, "apart")
    text = (
        f"{told(one)}, at {site}; the mean square of the errors goes to {then:.4g} in {len(found.rows)} steps, and to "
        f"{now:.4g} where each is squared first"
    )
    # Samples that do not belong together come no nearer than to each other's mean: moments were meant to match.
    if not now <= BETTER * min(then, one["spread"]):
        return inconclusive(cause, f"{text}: no clear gain")
    values = {
        "errors": one["shape"],
        "left": one["left"],
        "apart": then,
        "apart_squared_first": now,
        "spread": one["spread"],
    }
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
