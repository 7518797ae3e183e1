"""A best value that is looked for among the samples of a batch, and not among the values of each sample."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

# A gradient that reaches more of the samples than this leaves none of them out.
REACHED = 0.5
# How small the values have to become with the other axis, in parts of what they are with this one.
BETTER = 0.8


def across(found: Ran) -> Facts | None:
    """The first extreme that is taken over the batch each time, lowers what it is taken of, and leaves most samples out."""
    of: list[Facts] = found.facts.get("extremes") or []
    every = [e for e in of if e["used"] and e["of_batch"] == e["times"] and e["lowered"] == e["used"]]
    return next((e for e in every if e["reached"] <= REACHED), None)


def told(one: Facts) -> str:
    samples, values = one["shape"][:2]
    return (
        f"the {one['function']} of {samples} samples by {values} values is taken along axis 0, the batch's: a gradient reaches "
        f"at most {100 * one['reached']:.2g} % of the samples"
    )


def settle(cause: str, examination: Examination, found: Ran, one: Facts) -> Hypothesis:
    """Whether what is nearest to each sample comes nearer with the extreme taken for each sample."""
    assert examination.lab is not None
    site = examination.site(one["site"])
    place = [one["site"]["file"], one["site"]["line"]]
    settings = {"watch": ["extremes_of_batch"], "across": [place]}
    name = "the extreme along the other axis"
    _, then, now = audits.beside(examination.lab, found, name, settings, "nearest")
    text = (
        f"{told(one)}, at {site}; for each sample it goes to {then:.4g} in {len(found.rows)} steps, and to {now:.4g} where it "
        "is taken along axis 1"
    )
    if not 0 <= now <= BETTER * then:
        return inconclusive(cause, f"{text}: no clear gain")
    values = {"axis": 0, "reached": one["reached"], "nearest": then, "nearest_across": now}
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))
